-- Begins a payment of a member's order, or finds the open one.
-- Params: $1 member, $2 order, $3 id of a new payment, $4 provider, $5 hash of its return state, $6 seconds that starting may
--   take.
-- Returns: 0 or 1 row.
-- Called by: lib/database/payments/payment_store.c.
SELECT outcome, payment_id, order_status, redirect_url, session_ends_us, title, quantity,
       amount, tax_free, vat, currency
  FROM payment_open($1, $2, $3, $4, $5, $6)
