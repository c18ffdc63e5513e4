-- The payments of an order and the hashes of their return states, newest first.
-- Params: $1 order, $2 limit.
-- Returns: 0..$2 rows.
-- Called by: lib/database/payments/payment_store.c.
SELECT id, return_hash
  FROM payment
 WHERE order_id = $1
 ORDER BY created_at DESC
 LIMIT $2::bigint
