-- One page of the states of a show's seats.
-- Params: $1 show, $2 seats after this id, $3 limit, $4 whether to include seats that were never ordered.
-- Returns: 0..$3 rows by id: queue, show, seat, change, state, member, order.
-- Called by: lib/database/seats/seat_store.c.
SELECT w.queue, s.show, s.id, s.change, s.state, s.member, s.order_id
  FROM show w
  JOIN seat_state s ON s.show = w.id
 WHERE w.id = $1 AND s.show = $1 AND s.id > $2 AND (s.change > 0 OR $4::boolean)
 ORDER BY s.id
 LIMIT $3::bigint
