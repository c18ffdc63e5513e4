-- Records the provider's session for a payment.
-- Params: $1 payment, $2 reference, $3 address, $4 seconds of the session, $5 seconds of grace.
-- Returns: 1 row.
-- Called by: lib/database/payments/payment_record.c.
SELECT outcome, state, order_id, order_status, queue, member, place_freed, came_back,
       session_ends_us
  FROM payment_ready($1, $2, $3, $4, $5)
