-- What the books say that somebody should watch, as name and number.
-- Params: none.
-- Returns: a row for each state of payments: the state, and how many payments are in it; and rows `stuck` (payments that
--   need a person), `consume` and `other` (rows of the outbox by kind), `failed` (those tried in vain), `oldest` (when the
--   oldest was written, seconds since 1970; 0: there is none).
-- Called by: lib/orders/books.c
SELECT s.name, (SELECT count(*) FROM payment p WHERE p.state = s.name) FROM payment_state s
UNION ALL
SELECT 'stuck', count(*) FROM payment p WHERE p.needs_person
UNION ALL
SELECT unnest(ARRAY['consume', 'other', 'failed', 'oldest']),
       unnest(ARRAY[count(*) FILTER (WHERE b.kind = 'consume'), count(*) FILTER (WHERE b.kind <> 'consume'),
                    count(*) FILTER (WHERE b.attempts > 1), COALESCE(epoch_ms(min(b.created_at)) / 1000, 0)])
  FROM outbox b
