-- The list of concerts, as GET /v1/concerts answers: by next show, those without a future show last; at most 1000.
-- Params: none.
-- Returns: 1 row: version (always 0), JSON.
-- Called by: lib/catalog/source.c.
SELECT 0,
       json_build_object('concerts', coalesce(json_agg(json_build_object(
           'id', c.id, 'title', c.title, 'venue', c.venue, 'shows', c.shows,
           'firstShowAt', to_char(c.first AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'lastShowAt', to_char(c.last AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) ORDER BY c.n),
           '[]'::json))
  FROM (SELECT row_number() OVER (ORDER BY s.next NULLS LAST, s.last DESC NULLS LAST, c.id) AS n,
               c.id, c.title, c.venue, s.shows, s.first, s.last
          FROM concert c
          CROSS JOIN LATERAL (
               SELECT count(*) AS shows, min(starts_at) AS first, max(starts_at) AS last,
                      min(starts_at) FILTER (WHERE starts_at > now()) AS next
                 FROM show WHERE concert = c.id) s
         ORDER BY n
         LIMIT 1000) c
