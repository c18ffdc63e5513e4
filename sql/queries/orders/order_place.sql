-- Places an order, or finds the one placed under the same key.
-- Params: $1 queue, $2 incarnation, $3 epoch, $4 number, $5 member, $6 idempotency key, $7 its hash, $8 fingerprint,
--   $9 claim, $10 admission, $11 id of the new order, $12 SKUs, $13 quantities, $14 seconds until it expires,
--   $15 whether it keeps its place, $16 show and $17 seats text[] (both NULL for items), $18 outbox rows to delete: see
--   place_order() for them and for the refusals.
-- Returns: 1 row.
-- Called by: lib/database/orders/order_place.c.
-- A new order has no payment: only a repeat's is read.
SELECT id, queue, status, total_amount, currency, created_us, expires_us, items, place_held,
       show, seats, p.payment, CASE WHEN o.replayed THEN p.pay_until_us ELSE o.expires_us END, replayed, admission_id,
       took_last, outbox_row
  FROM place_order($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) AS o
  LEFT JOIN LATERAL order_payment(CASE WHEN o.replayed THEN o.id END) AS p ON true
