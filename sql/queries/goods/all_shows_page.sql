-- One page of all shows, without their plans.
-- Params: $1 shows after this id text, $2 limit bigint.
-- Returns: 0..$2 rows by id: id, the show as JSON, with the number of its seats and of those that an order has.
-- Called by: lib/database/goods/object_pages.c.
SELECT s.id,
       json_build_object(
           'show', s.id, 'concert', s.concert,
           'startsAt', to_char(s.starts_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'queue', s.queue,
           'maxSeatsPerMember', s.max_seats_per_member, 'holdTtlSeconds', s.hold_ttl_seconds, 'currency', s.currency,
           'seatCount', seats.count, 'taken', seats.taken, 'version', s.version,
           'createdAt', to_char(s.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'updatedAt', to_char(s.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  FROM show s
 CROSS JOIN LATERAL (
    SELECT count(*) AS count, count(*) FILTER (WHERE seat.taken) AS taken
      FROM seat WHERE seat.show = s.id) AS seats
 WHERE s.id > $1
 ORDER BY s.id
 LIMIT $2::bigint
