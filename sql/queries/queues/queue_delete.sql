-- Deletes a queue.
-- Params: $1 id text, $2 version expected bigint (NULL: any), $3 actor text, $4 request id text.
-- Returns: one row: outcome (changed, stale, missing), then the queue_record (NULLs when missing).
-- Called by: lib/database/queues/queue_store.c
SELECT done.outcome, (done.shown).*
FROM queue_delete($1, $2, $3, $4) AS done;
