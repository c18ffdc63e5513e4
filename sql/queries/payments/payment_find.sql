-- One payment, with the columns of payments_due.sql.
-- Params: $1 payment.
-- Returns: 0 or 1 row.
-- Called by: lib/database/payments/payment_store.c.
SELECT p.id, p.order_id, p.provider, p.state, p.provider_ref, p.canceled_amount, o.member,
       COALESCE(p.final_at <= now(), true) AS is_final, p.approvals, 0 AS attempts, p.needs_person,
       p.amount, p.tax_free, p.vat, p.currency, p.in_doubt
  FROM payment p
  JOIN customer_order o ON o.id = p.order_id
 WHERE p.id = $1
