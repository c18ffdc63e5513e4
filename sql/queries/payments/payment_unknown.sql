-- Records an approval whose result is unknown.
-- Params: $1 payment, $2 number of the approval, $3 reason.
-- Returns: 1 row.
-- Called by: lib/database/payments/payment_record.c.
SELECT outcome, state, order_id, order_status, queue, member, place_freed, came_back,
       session_ends_us
  FROM payment_unknown($1, $2, $3)
