-- Cancels an unpaid order of a member.
-- Params: $1 member, $2 order.
-- Returns: 0 or 1 row; the seats are named as they were a moment before.
-- Called by: lib/orders/order_store.c.
SELECT c.id, c.queue, c.status, c.total_amount, c.currency, c.created_us, c.expires_us, c.items, c.place_held,
       v.show, v.seats, c.came_back
  FROM cancel_order($1, $2) AS c
  LEFT JOIN order_view v ON v.id = $2
