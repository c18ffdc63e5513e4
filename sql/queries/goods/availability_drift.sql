-- Whether the last finding on a queue differs from the current state of its products and coupons.
-- Params: $1 queue.
-- Returns: 0 or 1 row.
-- Called by: lib/database/goods/availability.c.
SELECT (g.sells AND NOT g.is_left) <> q.sold_out
       AND NOT (q.sold_out AND g.sells AND g.is_left AND q.settings -> 'reopen' = 'false')
  FROM queue q, queue_goods(q.id) AS g
 WHERE q.id = $1 AND q.deleted_at IS NULL
