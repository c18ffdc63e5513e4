-- One page of concerts.
-- Params: $1 concerts after this id text, $2 limit bigint.
-- Returns: 0..$2 rows by id: id, the concert as JSON.
-- Called by: lib/database/goods/object_pages.c.
SELECT id,
       json_build_object(
           'concert', id, 'title', title, 'venue', venue, 'description', description, 'version', version,
           'createdAt', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'updatedAt', to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  FROM concert
 WHERE id > $1
 ORDER BY id
 LIMIT $2::bigint
