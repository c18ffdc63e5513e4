-- Schedules a look-up of a payment after a hint, such as a webhook.
-- Params: $1 provider, $2 its reference or NULL, $3 payment or NULL.
-- Returns: 0..2 rows.
-- Called by: lib/database/payments/payment_store.c.
SELECT payment_id
  FROM payment_hint($1, $2, $3)
