-- Figures of payments and outbox for monitoring, as name and number.
-- Params: none.
-- Returns: a row for each payment state: the state, and the number of payments in it; and rows `stuck` (payments that need a
--   person), `consume` and `other` (outbox rows by kind), `failed` (outbox rows taken more than once), `oldest` (when the
--   oldest outbox row was written, seconds since 1970; 0 for none).
-- Called by: lib/database/service/books.c
SELECT s.name, (SELECT count(*) FROM payment p WHERE p.state = s.name) FROM payment_state s
UNION ALL
SELECT 'stuck', count(*) FROM payment p WHERE p.needs_person
UNION ALL
SELECT unnest(ARRAY['consume', 'other', 'failed', 'oldest']),
       unnest(ARRAY[count(*) FILTER (WHERE b.kind = 'consume'), count(*) FILTER (WHERE b.kind <> 'consume'),
                    count(*) FILTER (WHERE b.attempts > 1), COALESCE(epoch_ms(min(b.created_at)) / 1000, 0)])
  FROM outbox b
