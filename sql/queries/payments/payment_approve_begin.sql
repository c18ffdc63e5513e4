-- Begins the approval after the member's return from the provider; of concurrent callers one gets it.
-- Params: $1 payment, $2 the configured provider, $3 seconds that approving may take.
-- Returns: 0 or 1 row.
-- Called by: lib/database/payments/payment_store.c.
SELECT outcome, approvals, ref, member, order_status, amount, tax_free, vat, currency
  FROM payment_approve_begin($1, $2, $3)
