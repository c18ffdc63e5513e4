-- One page of the uses of a queue's codes.
-- Params: $1 queue, $2 $3 uses after this hash and member, $4 limit.
-- Returns: 0..$4 rows by hash and member: hash, member, kind, moment in ms since 1970.
-- Called by: lib/database/queues/code_store.c.
SELECT use.code_hash, use.member, code.kind, epoch_ms(use.at)
  FROM queue_code_use AS use
  JOIN queue_code AS code USING (queue, code_hash)
 WHERE use.queue = $1 AND (use.code_hash, use.member) > ($2, $3)
 ORDER BY use.code_hash, use.member
 LIMIT $4::bigint
