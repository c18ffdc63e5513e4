-- All queues.
-- Params: $1 whether to include deleted ones boolean.
-- Returns: a row for each queue by id: '' in place of an outcome, then the queue_record.
-- Called by: lib/database/queues/queue_store.c
SELECT '', found.*
FROM queue_record AS found
WHERE $1::boolean OR NOT found.deleted
ORDER BY found.id;
