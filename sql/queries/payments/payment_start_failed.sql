-- Records that a payment could not be started.
-- Params: $1 payment, $2 reason.
-- Returns: 1 row.
-- Called by: lib/database/payments/payment_record.c.
SELECT outcome, state, order_id, order_status, queue, member, place_freed, came_back,
       session_ends_us
  FROM payment_start_failed($1, $2)
