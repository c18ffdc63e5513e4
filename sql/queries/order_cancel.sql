-- Cancels an unpaid order of a member.
-- Params: $1 member, $2 order.
-- Returns: 0 or 1 row.
-- Called by: lib/orders/order_store.c.
SELECT id, queue, status, total_amount, currency, created_us, expires_us, items, place_held, came_back
  FROM cancel_order($1, $2)
