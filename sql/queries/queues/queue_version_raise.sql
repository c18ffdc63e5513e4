-- Raises the version of a queue and changes nothing else: a change made on the version before no longer happens.
-- Params: $1 id text, $2 version expected bigint, $3 version that Redis has bigint; the new one is above both.
-- Returns: 1 row: the new version; none where the queue has another version.
-- Called by: lib/database/queues/queue_store.c
UPDATE queue SET version = greatest(version, $3::bigint) + 1
WHERE id = $1 AND version = $2
RETURNING version;
