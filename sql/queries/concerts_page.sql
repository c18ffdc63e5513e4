-- Concerts by pages.
-- Params: $1 behind this concert text, $2 at most so many rows bigint.
-- Returns: id, and the concert as JSON, in order of the ids.
-- Called by: lib/orders/object_pages.c.
SELECT id,
       json_build_object(
           'concert', id, 'title', title, 'venue', venue, 'description', description, 'version', version,
           'createdAt', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'updatedAt', to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  FROM concert
 WHERE id > $1
 ORDER BY id
 LIMIT $2::bigint
