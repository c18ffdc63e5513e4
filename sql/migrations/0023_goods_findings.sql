-- 0023_goods_findings: findings on a queue's goods survive a lost commit, and end with the queue.
-- Purpose   numbers go on above one that Redis has and PostgreSQL has lost; a queue that is created again is not sold out because
--           the one before it was
-- Locks     none
-- Undo      a new migration that restores availability(text, boolean) of 0011_coupon_counts.sql and queue_write() of
--           0002_queue_functions.sql, both as 0018_roles.sql alters them, and drops the other availability()

CREATE FUNCTION availability(p_queue text, p_reopen boolean, p_above bigint)
RETURNS TABLE (sold_out boolean, change bigint, due_ms bigint, coupons text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_queue queue%ROWTYPE;
    v_sells boolean;
    v_left boolean;
    v_sold_out boolean;
BEGIN
    SELECT * INTO v_queue FROM queue q
     WHERE q.id = p_queue AND q.deleted_at IS NULL FOR NO KEY UPDATE;
    IF NOT FOUND OR (p_above > 0 AND v_queue.sold_out_change >= p_above) THEN
        RETURN;
    END IF;
    SELECT g.sells, g.is_left INTO v_sells, v_left FROM queue_goods(p_queue) AS g;
    v_sold_out := v_sells AND NOT v_left;
    IF v_sells AND v_left AND v_queue.sold_out AND NOT p_reopen THEN
        v_sold_out := v_queue.settings -> 'reopen' = 'false';
    END IF;
    UPDATE queue q
       SET sold_out = COALESCE(v_sold_out, false), sold_out_change = greatest(q.sold_out_change, p_above) + 1
     WHERE q.id = p_queue
    RETURNING q.sold_out, q.sold_out_change INTO v_queue.sold_out, v_queue.sold_out_change;
    RETURN QUERY SELECT v_queue.sold_out, v_queue.sold_out_change, epoch_ms(goods_end(p_queue)),
        (SELECT string_agg(e.id || ' ' || coupon_record(e), ' ') FROM live_coupon_events(p_queue) AS e);
END $$;
COMMENT ON FUNCTION availability(text, boolean, bigint) IS
    'Finds whether anything is left of a queue''s goods, and numbers the finding, under the queue''s row lock. p_reopen: even if the '
    'setting reopen is false. p_above, where not 0: a number that Redis has; nothing is done where PostgreSQL has given it, else '
    'the finding gets a higher one.';

-- As the release before this one calls it.
CREATE OR REPLACE FUNCTION availability(p_queue text, p_reopen boolean)
RETURNS TABLE (sold_out boolean, change bigint, due_ms bigint, coupons text)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT * FROM availability(p_queue, p_reopen, 0)
$$;

-- As in 0002_queue_functions.sql, and a queue that comes back is taken for one that sells until its goods have been looked at: the
-- finding of its former life would stay under the setting reopen = false. Its number makes Redis accept it.
CREATE OR REPLACE FUNCTION queue_write(p_id text, p_version bigint, p_create boolean, p_settings jsonb,
    p_actor text, p_request_id text, OUT outcome text, OUT shown queue_record)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    old queue;
    new queue;
BEGIN
    IF p_create THEN
        INSERT INTO queue (id, settings) VALUES (p_id, p_settings)
        ON CONFLICT (id) DO NOTHING RETURNING * INTO new;
    END IF;
    IF new.id IS NOT NULL THEN
        outcome := 'created';
    ELSE
        SELECT * INTO old FROM queue WHERE id = p_id FOR UPDATE;
        IF old.id IS NULL OR (old.deleted_at IS NOT NULL AND NOT p_create) THEN
            outcome := 'missing';
            RETURN;
        ELSIF old.deleted_at IS NOT NULL THEN
            outcome := 'created';
            UPDATE queue SET settings = p_settings, operator_state = 'OPEN', epoch = epoch + 1,
                version = version + 1, seq_checkpoint = 0, sold_out = false, sold_out_change = sold_out_change + 1,
                created_at = now(), updated_at = now(), deleted_at = NULL
            WHERE id = p_id RETURNING * INTO new;
            INSERT INTO outbox (queue, kind) VALUES (p_id, 'sold_out');
        ELSIF old.version <> p_version THEN
            outcome := 'stale';
        ELSIF old.settings = p_settings THEN
            outcome := 'same';
        ELSE
            outcome := 'changed';
            UPDATE queue SET settings = p_settings, version = version + 1, updated_at = now()
            WHERE id = p_id RETURNING * INTO new;
        END IF;
    END IF;
    IF new.id IS NOT NULL THEN
        PERFORM queue_audit(p_actor, CASE outcome WHEN 'created' THEN 'create' ELSE 'change' END,
            p_request_id, old, new);
    END IF;
    SELECT * INTO shown FROM queue_record WHERE id = p_id;
END $$;
