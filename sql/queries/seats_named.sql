-- What has become of some seats of a show.
-- Params: $1 show, $2 ids text[].
-- Returns: a row for each that is there, by id: queue, show, seat, change, state, member, order.
-- Called by: lib/orders/seat_store.c, in a snapshot of its own.
SELECT w.queue, s.show, s.id, s.change, s.state, s.member, s.order_id
  FROM show w
  JOIN seat_state s ON s.show = w.id
 WHERE w.id = $1 AND s.show = $1 AND s.id = ANY ($2::text[])
 ORDER BY s.id
