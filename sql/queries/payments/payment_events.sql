-- The history of one payment.
-- Params: $1 payment text.
-- Returns: state before (NULL for the first), state after, reason, time in ms since 1970, oldest first.
-- Called by: lib/database/payments/payment_admin.c
SELECT from_state, to_state, why, epoch_ms(at) FROM payment_event WHERE payment_id = $1 ORDER BY id LIMIT 1000;
