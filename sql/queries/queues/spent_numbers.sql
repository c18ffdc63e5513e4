-- One page of the numbers whose owners have spent an admission.
-- Params: $1 queue, $2 epoch, $3 numbers above this one, $4 limit.
-- Returns: 0..$4 rows, ascending.
-- Called by: lib/database/queues/recovery_store.c.
SELECT DISTINCT seq
  FROM admission_use
 WHERE queue = $1 AND epoch = $2 AND seq > $3
 ORDER BY seq
 LIMIT $4::bigint
