-- The orders of a member, newest first.
-- Params: $1 member, $2 limit, $3 $4 time in µs and id of the last order of the previous page, or NULL.
-- Returns: 0..$2 rows.
-- Called by: lib/database/orders/order_store.c.
SELECT id, queue, status, total_amount, currency, created_us, expires_us, items, place_held, show, seats,
       p.payment, p.pay_until_us
  FROM order_view o LEFT JOIN LATERAL order_payment(o.id) AS p ON true
 WHERE member = $1
   AND (created_at, id) < (COALESCE('epoch'::timestamptz + $3::bigint * interval '1 microsecond',
                                    'infinity'), COALESCE($4, ''))
 ORDER BY created_at DESC, id DESC
 LIMIT $2::bigint
