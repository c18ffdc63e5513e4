-- Takes payments that are due for a look-up; other callers do not get them for at least $3 seconds.
-- Params: $1 limit, $2 attempts from which on a person is needed, $3 lease in seconds.
-- Returns: 0..$1 rows.
-- Called by: lib/orders/payments/payment_store.c.
SELECT id, order_id, provider, state, ref, canceled_amount, member, is_final, approvals, attempts,
       needs_person, amount, tax_free, vat, currency
  FROM payments_due($1, $2, $3)
