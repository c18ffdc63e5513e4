-- A show and its plan as published to Redis, in one snapshot.
-- Params: $1 show.
-- Returns: 0 or 1 row: show, queue, version, seats a member may have, seconds that a hold lasts, number of seats,
--   their ids in the order of the plan, separated by spaces, when that version was stored (µs since 1970).
-- Called by: lib/database/seats/seat_store.c.
SELECT s.id, s.queue, s.version, s.max_seats_per_member, s.hold_ttl_seconds, plan.count, plan.ids,
       (extract(epoch FROM s.updated_at) * 1000000)::bigint
  FROM show s
 CROSS JOIN LATERAL (
    SELECT count(*) AS count, string_agg(seat.id, ' ' ORDER BY seat.position, seat.id) AS ids
      FROM seat WHERE seat.show = s.id) AS plan
 WHERE s.id = $1
