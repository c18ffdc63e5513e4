-- Place numbers whose owners have spent an admission.
-- Params: $1 queue, $2 epoch, $3 above this number, $4 at most so many.
-- Returns: 0..$4 rows, rising.
-- Called by: lib/orders/recovery_store.c.
SELECT DISTINCT seq
  FROM admission_use
 WHERE queue = $1 AND epoch = $2 AND seq > $3
 ORDER BY seq
 LIMIT $4::bigint
