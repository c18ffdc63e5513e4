-- One show, for operators.
-- Params: $1 show.
-- Returns: 0 or 1 row; times in ms since 1970; with the number of its seats and of those that an order has.
-- Called by: lib/database/seats/show_store.c.
SELECT s.id, s.concert, epoch_ms(s.starts_at), s.queue, s.max_seats_per_member, s.hold_ttl_seconds, s.currency,
       s.version, epoch_ms(s.created_at), epoch_ms(s.updated_at), seats.count, seats.taken
  FROM show s
 CROSS JOIN LATERAL (
    SELECT count(*) AS count, count(*) FILTER (WHERE seat.taken) AS taken
      FROM seat WHERE seat.show = s.id) AS seats
 WHERE s.id = $1
