-- The current states of the seats of an order, also where another order has them now.
-- Params: $1 order.
-- Returns: a row for each seat by id: queue, show, seat, change, state, member, order.
-- Called by: lib/database/seats/seat_store.c, in a snapshot of its own.
SELECT w.queue, s.show, s.id, s.change, s.state, s.member, s.order_id
  FROM order_seat i
  JOIN seat_state s ON s.show = i.show AND s.id = i.seat
  JOIN show w ON w.id = i.show
 WHERE i.order_id = $1
 ORDER BY s.id
