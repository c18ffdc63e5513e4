-- Carries out an operator's action on a queue.
-- Params: $1 id text, $2 action text, $3 actor text, $4 request id text.
-- Returns: one row: outcome (changed, same, missing), then the queue_record (NULLs when missing).
-- Called by: lib/database/queues/queue_store.c
SELECT done.outcome, (done.shown).*
FROM queue_act($1, $2, $3, $4) AS done;
