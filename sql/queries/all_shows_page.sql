-- Shows by pages, without their plans.
-- Params: $1 behind this show text, $2 at most so many rows bigint.
-- Returns: id, and the show as JSON, in order of the ids; its seats, and how many of them an order has.
-- Called by: lib/orders/object_pages.c.
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
