-- Schedules a look-up of a payment for an operator.
-- Params: $1 payment text.
-- Returns: 0 or 1 row: whether it will be looked up; no row for an unknown payment.
-- Called by: lib/database/payments/payment_admin.c
SELECT will_be FROM payment_look($1);
