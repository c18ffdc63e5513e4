-- A concert with its shows, soonest first, as GET /v1/concerts/{concert} answers.
-- Params: $1 concert.
-- Returns: 0 or 1 row: version, JSON.
-- Called by: lib/catalog/source.c.
SELECT c.version,
       json_build_object('id', c.id, 'title', c.title, 'venue', c.venue, 'description', c.description,
                         'version', c.version,
                         'shows', (SELECT coalesce(json_agg(json_build_object('id', s.id, 'startsAt',
                                              to_char(s.starts_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                                              'queue', s.queue) ORDER BY s.starts_at, s.id), '[]'::json)
                                     FROM (SELECT id, starts_at, queue FROM show WHERE concert = c.id
                                            ORDER BY starts_at, id LIMIT 1000) s))
  FROM concert c
 WHERE c.id = $1
