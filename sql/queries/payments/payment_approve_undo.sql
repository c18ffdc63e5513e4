-- Records that an approval took nothing and the session continues.
-- Params: $1 payment, $2 number of the approval, $3 reason, $4 whether a person is needed.
-- Returns: 1 row.
-- Called by: lib/database/payments/payment_record.c.
SELECT outcome, state, order_id, order_status, queue, member, place_freed, came_back,
       session_ends_us
  FROM payment_approve_undo($1, $2, $3, $4)
