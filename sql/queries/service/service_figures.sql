-- Figures of the service as a whole.
-- Params: none.
-- Returns: 1 row: PostgreSQL's time in ms since 1970, whether it is a standby, payments that need a person (counted up to
--   1000), rows of the outbox (up to 10000), age of the oldest in ms, ms since reconcile last finished a pass; NULL for none.
-- Called by: lib/database/service/service_figures.c
SELECT epoch_ms(clock_timestamp()), pg_is_in_recovery(),
       (SELECT count(*) FROM (SELECT FROM payment p WHERE p.needs_person LIMIT 1000) AS stuck),
       (SELECT count(*) FROM (SELECT FROM outbox LIMIT 10000) AS rows),
       (SELECT greatest(epoch_ms(clock_timestamp()) - epoch_ms(o.created_at), 0) FROM outbox o ORDER BY o.id LIMIT 1),
       (SELECT greatest(epoch_ms(clock_timestamp()) - epoch_ms(p.finished_at), 0)
          FROM program_pass p WHERE p.program = 'sluice-reconcile');
