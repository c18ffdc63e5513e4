-- Records the member's return by cancel or fail.
-- Params: $1 payment, $2 whether the order ends, $3 with which status, $4 reason.
-- Returns: 1 row.
-- Called by: lib/database/payments/payment_record.c.
SELECT outcome, state, order_id, order_status, queue, member, place_freed, came_back,
       session_ends_us
  FROM payment_stop($1, $2, $3, $4)
