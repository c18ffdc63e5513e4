-- Whether a queue exists.
-- Params: $1 queue.
-- Returns: 0 or 1 row.
-- Called by: lib/database/orders/order_store.c.
SELECT id
  FROM queue
 WHERE id = $1 AND deleted_at IS NULL
