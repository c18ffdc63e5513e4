-- Records money that the provider has confirmed as taken.
-- Params: $1 payment, $2 reference, $3 amount, $4 currency, $5 amount refunded of it, $6 reason.
-- Returns: 1 row.
-- Called by: lib/database/payments/payment_record.c.
SELECT outcome, state, order_id, order_status, queue, member, place_freed, came_back,
       session_ends_us
  FROM payment_paid($1, $2, $3, $4, $5, $6)
