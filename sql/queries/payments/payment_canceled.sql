-- Records a refund that the provider has confirmed.
-- Params: $1 payment, $2 amount refunded, $3 whether an unpaid order ends, $4 reason.
-- Returns: 1 row.
-- Called by: lib/database/payments/payment_record.c.
SELECT outcome, state, order_id, order_status, queue, member, place_freed, came_back,
       session_ends_us
  FROM payment_canceled($1, $2, $3, $4)
