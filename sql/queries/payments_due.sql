-- Takes payments to look at; others do not get them for a while.
-- Params: $1 at most so many, $2 attempts from which on a person is needed, $3 for so many seconds.
-- Returns: 0..$1 rows.
-- Called by: lib/orders/payment_store.c.
SELECT id, order_id, provider, state, ref, canceled_amount, member, is_final, approvals, attempts,
       needs_person, amount, tax_free, vat, currency
  FROM payments_due($1, $2, $3)
