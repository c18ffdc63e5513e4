-- Records that nothing was taken.
-- Params: $1 payment, $2 approvals of it when the provider was asked, $3 FAILED or EXPIRED, $4 whether that is final,
--   $5 whether the provider says so, $6 whether the order ends, $7 reason.
-- Returns: 1 row.
-- Called by: lib/database/payments/payment_record.c.
SELECT outcome, state, order_id, order_status, queue, member, place_freed, came_back,
       session_ends_us
  FROM payment_unpaid($1, $2, $3, $4, $5, $6, $7)
