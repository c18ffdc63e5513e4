-- The order that was placed under an idempotency key.
-- Params: $1 member, $2 idempotency key.
-- Returns: 0 or 1 row.
-- Called by: lib/database/orders/order_store.c.
SELECT id, queue, status, total_amount, currency, created_us, expires_us, items, place_held, show, seats,
       p.payment, p.pay_until_us, fingerprint
  FROM order_view o LEFT JOIN LATERAL order_payment(o.id) AS p ON true
 WHERE member = $1 AND idempotency_key = $2
