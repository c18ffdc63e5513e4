-- A show without its seats, as GET /v1/shows/{show} answers.
-- Params: $1 show.
-- Returns: 0 or 1 row: version, JSON.
-- Called by: lib/catalog/source.c.
SELECT s.version,
       json_build_object('id', s.id, 'concert', s.concert,
                         'startsAt', to_char(s.starts_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                         'queue', s.queue, 'maxSeatsPerMember', s.max_seats_per_member,
                         'holdTtlSeconds', s.hold_ttl_seconds, 'currency', s.currency, 'seats', p.seats,
                         'priceFrom', CASE WHEN p.seats > 0 THEN
                             json_build_object('amount', p.least, 'currency', s.currency) END,
                         'priceTo', CASE WHEN p.seats > 0 THEN
                             json_build_object('amount', p.most, 'currency', s.currency) END,
                         'version', s.version)
  FROM show s
  CROSS JOIN LATERAL (
       SELECT count(*) AS seats, min(price_amount) AS least, max(price_amount) AS most
         FROM seat WHERE show = s.id) p
 WHERE s.id = $1
