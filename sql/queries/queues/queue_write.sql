-- Creates a queue or replaces its settings.
-- Params: $1 id text, $2 version expected bigint (NULL: any), $3 create where missing boolean,
--   $4 complete settings jsonb, $5 actor text, $6 request id text.
-- Returns: one row: outcome (created, changed, same, stale, missing), then the queue_record (NULLs when
--   missing).
-- Called by: lib/database/queues/queue_store.c
SELECT done.outcome, (done.shown).*
FROM queue_write($1, $2, $3, $4, $5, $6) AS done;
