-- One queue.
-- Params: $1 id text.
-- Returns: 0 or 1 row: '' in place of an outcome, then the queue_record; none for a deleted queue.
-- Called by: lib/orders/queues/queue_store.c
SELECT '', found.*
FROM queue_record AS found
WHERE found.id = $1 AND NOT found.deleted;
