-- One page of a queue's codes, as published to Redis.
-- Params: $1 queue, $2 codes after this hash, $3 limit.
-- Returns: 0..$3 rows by hash: hash, kind, uses left, end in ms since 1970 (0: none).
-- Called by: lib/database/queues/code_store.c.
SELECT code_hash, kind, GREATEST(uses - used, 0), COALESCE(epoch_ms(expires_at), 0)
  FROM queue_code
 WHERE queue = $1 AND code_hash > $2
 ORDER BY code_hash
 LIMIT $3::bigint
