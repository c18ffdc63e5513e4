-- Deletes a queue.
-- Params: $1 id text, $2 actor text, $3 request id text.
-- Returns: one row: outcome (changed, missing), then the queue_record (NULLs when missing).
-- Called by: lib/orders/queues/queue_store.c
SELECT done.outcome, (done.shown).*
FROM queue_delete($1, $2, $3) AS done;
