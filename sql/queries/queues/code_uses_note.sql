-- Stores uses of codes that Redis has counted. Idempotent.
-- Params: $1 queue, $2 hashes text[], $3 members text[], $4 moments in ms bigint[].
-- Returns: 1 row: number of codes changed.
-- Called by: lib/database/queues/code_store.c.
SELECT codes_note_uses($1, $2, $3, $4)
