-- Members whose places are held by an unpaid order.
-- Params: $1 queue, $2, $3 behind this member's order with this id, $4 at most so many.
-- Returns: 0..$4 rows, by member and id.
-- Called by: lib/orders/recovery_store.c.
SELECT member, id
  FROM customer_order
 WHERE queue = $1 AND place_held AND (member, id) > ($2, $3)
 ORDER BY member, id
 LIMIT $4::bigint
