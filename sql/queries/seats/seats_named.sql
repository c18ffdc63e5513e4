-- The states of given seats of a show. Looked up one by one: see seat_state.
-- Params: $1 show, $2 ids text[].
-- Returns: a row for each that exists, by id: queue, show, seat, change, state, member, order.
-- Called by: lib/database/seats/seat_store.c, in a snapshot of its own.
SELECT w.queue, s.show, s.id, s.change, s.state, s.member, s.order_id
  FROM show w
  CROSS JOIN unnest($2::text[]) AS wanted (id)
  CROSS JOIN LATERAL (SELECT * FROM seat_state s WHERE s.show = $1 AND s.id = wanted.id LIMIT 1) AS s
 WHERE w.id = $1
 ORDER BY s.id
