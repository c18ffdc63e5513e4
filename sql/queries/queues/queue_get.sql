-- One queue.
-- Params: $1 id text, $2 whether to find a deleted one boolean.
-- Returns: 0 or 1 row: '' in place of an outcome, then the queue_record.
-- Called by: lib/database/queues/queue_store.c
SELECT '', found.*
FROM queue_record AS found
WHERE found.id = $1 AND ($2::boolean OR NOT found.deleted);
