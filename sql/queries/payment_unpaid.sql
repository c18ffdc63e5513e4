-- Records that the provider has confirmed that nothing was taken.
-- Params: $1 payment, $2 FAILED or EXPIRED, $3 whether that is final, $4 whether the order ends, $5 reason.
-- Returns: 1 row.
-- Called by: lib/orders/payments/payment_record.c.
SELECT outcome, state, order_id, order_status, queue, member, place_freed, came_back,
       session_ends_us
  FROM payment_unpaid($1, $2, $3, $4, $5)
