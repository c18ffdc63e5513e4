-- One order of a member.
-- Params: $1 member, $2 order.
-- Returns: 0 or 1 row.
-- Called by: lib/database/orders/order_store.c.
SELECT id, queue, status, total_amount, currency, created_us, expires_us, items, place_held, show, seats,
       p.payment, p.pay_until_us
  FROM order_view o LEFT JOIN LATERAL order_payment(o.id) AS p ON true
 WHERE id = $2 AND member = $1
