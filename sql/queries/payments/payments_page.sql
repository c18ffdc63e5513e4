-- One page of payments for operators, newest first.
-- Params: $1 only those that need a person boolean, $2 state text (NULL: all), $3 order text (NULL: all), $4 only this
--   payment text (NULL: all), $5 those before this payment text (NULL: from the newest; unknown: no rows), $6 limit integer.
-- Returns: id, order, provider, state, reason, provider's reference, amount, tax-free, VAT, currency, refunded, attempts,
--   needs a person, last error, then in ms since 1970: created, updated, next look-up, session's end.
-- Called by: lib/database/payments/payment_admin.c
SELECT p.id, p.order_id, p.provider, p.state, p.why, p.provider_ref, p.amount, p.tax_free, p.vat, p.currency,
       p.canceled_amount, p.attempts, p.needs_person, p.last_error, epoch_ms(p.created_at), epoch_ms(p.updated_at),
       epoch_ms(p.retry_at), epoch_ms(p.session_ends_at)
  FROM payment p
 WHERE (p.needs_person OR NOT $1::boolean) AND ($2::text IS NULL OR p.state = $2) AND ($3::text IS NULL OR p.order_id = $3)
   AND ($4::text IS NULL OR p.id = $4)
   AND ($5::text IS NULL OR (p.created_at, p.id) < (SELECT b.created_at, b.id FROM payment b WHERE b.id = $5))
 ORDER BY p.created_at DESC, p.id DESC
 LIMIT $6::integer;
