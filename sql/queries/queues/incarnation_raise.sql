-- Raises the incarnation of a queue, also above those that PostgreSQL has lost, by at most a thousand.
-- Params: $1 queue, $2 the incarnation to end; a queue that has left it already stays as it is, $3 the latest that Redis knows.
-- Returns: 1 row: the current incarnation, NULL for a queue that does not exist.
-- Called by: lib/database/queues/recovery_store.c.
SELECT max(raise_incarnation($1, ended))
  FROM generate_series($2::bigint, greatest($2::bigint, least($3::bigint, $2::bigint + 999))) AS ended
