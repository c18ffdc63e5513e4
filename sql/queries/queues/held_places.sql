-- One page of the unpaid orders that hold their members' places.
-- Params: $1 queue, $2 $3 orders after this member and order id, $4 limit.
-- Returns: 0..$4 rows, by member and id.
-- Called by: lib/database/queues/recovery_store.c.
SELECT member, id
  FROM customer_order
 WHERE queue = $1 AND place_held AND (member, id) > ($2, $3)
 ORDER BY member, id
 LIMIT $4::bigint
