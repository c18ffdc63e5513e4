-- Nothing was taken, and the session goes on.
-- Params: $1 payment, $2 which approval, $3 why, $4 whether a person is to look.
-- Returns: 1 row.
-- Called by: lib/orders/payment_record.c.
SELECT outcome, state, order_id, order_status, queue, member, place_freed, came_back,
       session_ends_us
  FROM payment_approve_undo($1, $2, $3, $4)
