-- Members whose places are held by an unpaid order.
-- Params: $1 queue, $2 behind this member, $3 at most so many.
-- Returns: 0..$3 rows, by member.
-- Called by: lib/orders/recovery_store.c.
SELECT member, id
  FROM customer_order
 WHERE queue = $1 AND place_held AND member > $2
 ORDER BY member
 LIMIT $3::bigint
