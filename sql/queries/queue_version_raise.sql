-- Raises the version of a queue and changes nothing else: a change made on the version before no longer happens.
-- Params: $1 id text, $2 version expected bigint.
-- Returns: 1 row: the new version; none where the queue has another version or is deleted.
-- Called by: lib/orders/queues/queue_store.c
UPDATE queue SET version = version + 1
WHERE id = $1 AND version = $2 AND deleted_at IS NULL
RETURNING version;
