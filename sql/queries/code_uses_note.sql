-- Notes uses of codes that Redis has counted.
-- Params: $1 queue, $2 hashes text[], $3 members text[], $4 moments in ms bigint[].
-- Returns: 1 row: how many codes changed.
-- Called by: lib/orders/code_store.c.
SELECT codes_note_uses($1, $2, $3, $4)
