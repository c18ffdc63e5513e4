-- The numbers of a queue's codes, by kind.
-- Params: $1 queue.
-- Returns: a row for each kind: kind, codes, uses in all, uses used.
-- Called by: lib/database/queues/code_store.c.
SELECT kind, count(*), sum(uses), sum(used)
  FROM queue_code
 WHERE queue = $1
 GROUP BY kind
 ORDER BY kind
