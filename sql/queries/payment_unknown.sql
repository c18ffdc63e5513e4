-- Nobody knows whether it was taken.
-- Params: $1 payment, $2 which approval, $3 why.
-- Returns: 1 row.
-- Called by: lib/orders/payment_record.c.
SELECT outcome, state, order_id, order_status, queue, member, place_freed, came_back,
       session_ends_us
  FROM payment_unknown($1, $2, $3)
