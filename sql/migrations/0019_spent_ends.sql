-- 0019_spent_ends: what is remembered of spent claims and admissions has an end.
-- Purpose   forget_spent(): claim_outcome and admission_use need not grow for ever
-- Locks     SHARE on claim_outcome while its index is built, which reads the table once: orders wait. Where it has millions of
--           rows, build it before by CREATE INDEX CONCURRENTLY (docs/ops/upgrade.md)
-- Undo      a new migration that drops function and index
--
-- A row of either says that something must not happen again: an order whose claim was decided, a second order of one entry
-- token, a second turn under one number after Redis lost its memory. Each of these comes from a claim, a token or a ticket,
-- and they all have an end, long before spent_days (32 at least: no ticket is good for more than 30 days, no token for more
-- than one), as long as both servers go on from where they were. A repeated Idempotency-Key needs neither: the order itself knows its key, and stays.

-- By blocks: rows come in the order of their moments, and an order pays nothing for it.
CREATE INDEX IF NOT EXISTS claim_outcome_at_idx ON claim_outcome USING brin (at);
COMMENT ON INDEX claim_outcome_at_idx IS 'Serves forget_spent().';

-- Forgets claims that are older than p_days days (32 at least) by this clock and by Redis's, p_redis_ms, so that one clock
-- that has jumped ends nothing; p_most at most, each with the admission that it has spent: the two were written by one
-- transaction. Returns how many.
-- Whatever Redis has yet to be told is older than nothing that goes: as long as a row of the outbox stands, a token may look
-- unspent there. Several who forget at once take different ones.
CREATE FUNCTION forget_spent(p_days bigint, p_most bigint, p_redis_ms bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = public, pg_temp SET enable_seqscan = off AS $$
DECLARE
    v_before timestamptz := LEAST(LEAST(now(), to_timestamp(p_redis_ms / 1000.0)) - make_interval(days => GREATEST(p_days, 32)::integer),
                                  (SELECT b.created_at FROM outbox b ORDER BY b.id LIMIT 1));
    v_count bigint;
BEGIN
    WITH old AS MATERIALIZED (
        SELECT c.claim_id, c.order_id FROM claim_outcome c
         WHERE c.at < v_before LIMIT p_most FOR UPDATE SKIP LOCKED
    ), spent AS (
        SELECT o.admission_id FROM old JOIN customer_order o ON o.id = old.order_id
        UNION ALL
        SELECT k.admission_id
          FROM old JOIN coupon k ON k.id = CASE WHEN old.order_id LIKE 'c\_%' THEN substr(old.order_id, 3)::bigint END
    ), admissions AS (
        DELETE FROM admission_use u USING spent WHERE u.admission_id = spent.admission_id
    ), claims AS (
        DELETE FROM claim_outcome c USING old WHERE c.claim_id = old.claim_id RETURNING 1
    )
    SELECT count(*) INTO v_count FROM claims;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION forget_spent IS 'Ends what is remembered of spent claims and admissions, a bounded piece of it.';
