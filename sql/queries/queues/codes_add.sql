-- Adds codes to a queue; existing ones stay as they are.
-- Params: $1 queue, $2 hashes text[], $3 kind, $4 uses, $5 end in ms since 1970 (NULL: none).
-- Returns: 1 row: number of codes added.
-- Called by: lib/database/queues/code_store.c.
WITH added AS (
    INSERT INTO queue_code (queue, code_hash, kind, uses, expires_at)
    SELECT $1, unnest($2::text[]), $3, $4::integer, to_timestamp($5::bigint / 1000.0)
    ON CONFLICT DO NOTHING RETURNING 1
)
SELECT count(*) FROM added
