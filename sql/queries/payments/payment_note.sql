-- Records that a look-up of a payment was inconclusive.
-- Params: $1 payment, $2 reason, $3 whether a person is needed.
-- Returns: 1 row.
-- Called by: lib/database/payments/payment_record.c.
SELECT outcome, state, order_id, order_status, queue, member, place_freed, came_back,
       session_ends_us
  FROM payment_note($1, $2, $3)
