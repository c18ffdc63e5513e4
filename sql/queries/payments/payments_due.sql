-- Takes payments that are due for a look-up; other callers do not get them for at least $3 seconds.
-- Params: $1 limit, $2 attempts from which on a person is needed, $3 lease in seconds.
-- Returns: 0..$1 rows.
-- Called by: lib/database/payments/payment_store.c.
SELECT due.id, due.order_id, due.provider, due.state, due.ref, due.canceled_amount, due.member,
       due.is_final, due.approvals, due.attempts, due.needs_person, due.amount, due.tax_free,
       due.vat, due.currency, (SELECT p.in_doubt FROM payment p WHERE p.id = due.id) AS in_doubt
  FROM payments_due($1, $2, $3) due
