-- 0015_coupon_cost: what one coupon costs PostgreSQL.
-- Purpose   issue_coupon() with fewer statements and no plan made twice; it begins to look behind a given coupon and
--           strikes rows of the outbox; one check a table where each order or coupon writes
-- Locks     ACCESS EXCLUSIVE on claim_outcome, admission_use and outbox while their rows are checked, on coupon for a moment
-- Undo      a new migration that restores the checks and the issue_coupon() of 0010_coupons

-- PostgreSQL keeps a check as text and reads it anew for each statement that writes: seven of them were a fifth of what
-- a coupon cost. One check that only calls a function is short, and the function stays prepared.
-- Whoever changes one of these functions sees to it that the rows there are true of it: nobody looks again.

CREATE FUNCTION claim_outcome_is_whole(it claim_outcome) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN it.outcome = CASE WHEN it.order_id IS NULL THEN 'released' ELSE 'committed' END;
END $$;
ALTER TABLE claim_outcome
    DROP CONSTRAINT claim_outcome_outcome_check,
    DROP CONSTRAINT claim_outcome_order_id_check,
    ADD CONSTRAINT claim_outcome_whole_check CHECK (claim_outcome_is_whole(claim_outcome));

CREATE FUNCTION admission_use_is_whole(it admission_use) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN it.kind IN ('order', 'coupon') AND it.epoch >= 1 AND it.seq >= 1;
END $$;
ALTER TABLE admission_use
    DROP CONSTRAINT admission_use_kind_check,
    DROP CONSTRAINT admission_use_numbers_check,
    ADD CONSTRAINT admission_use_whole_check CHECK (admission_use_is_whole(admission_use));

CREATE FUNCTION outbox_is_whole(it outbox) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN (it.queue IS NULL) = (it.kind = 'concert') AND CASE it.kind
        WHEN 'consume' THEN num_nulls(it.member, it.order_id, it.admission_id, it.key_hash) = 0
        WHEN 'free_place' THEN it.member IS NOT NULL AND it.order_id IS NOT NULL
        WHEN 'seats' THEN it.order_id IS NOT NULL
        WHEN 'sold_out' THEN true
        WHEN 'concert' THEN it.concert IS NOT NULL
        ELSE false END;
END $$;
ALTER TABLE outbox
    DROP CONSTRAINT outbox_kind_check,
    ADD CONSTRAINT outbox_whole_check CHECK (outbox_is_whole(outbox));
-- Rows come and go by the thousand: whoever takes the oldest passes what is gone.
ALTER TABLE outbox SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- No statement changes a code, so it is looked at once, when it is added. coupon_issued_check stays as it was: a call for
-- each of a million rows that are added takes longer than reading it.
CREATE FUNCTION coupon_codes_are_valid() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM added WHERE added.code !~ '^[!-~]{1,64}$') THEN
        RAISE EXCEPTION 'a code is 1 to 64 printable ASCII characters without spaces'
            USING ERRCODE = 'check_violation', TABLE = 'coupon';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER coupon_code_trigger AFTER INSERT ON coupon
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION coupon_codes_are_valid();
ALTER TABLE coupon DROP CONSTRAINT coupon_code_check;

-- Issues one coupon of an event to a member, or finds the one that the member has. Arguments: event; queue,
-- incarnation, epoch and number as the claim gave them; member; claim and admission to spend; hash of the
-- event's key, by which the spent token finds the coupon again; the id of a coupon behind which to look first; whether
-- to look if fewer than so many are left (0: no); rows of the outbox to strike, which were carried out (NULL: none). The
-- release before leaves the last three out.
-- Returns one row. `issued`: a new one. `already`: the member's own of before, nothing written, nothing spent.
-- `not_open`, `ended`. `none`: no row is free, which is no word on whether one may yet become so. And for
-- `issued`, whether so few are left that somebody has to look after the commit: see below; the coupon's id; and its row
-- in the outbox, for whoever tells Redis.
-- DETAIL of SL004 is that of place_order().
--
-- Nobody waits for anybody's row: rows taken by others are skipped. What is waited for is one's own twin (the
-- member's lock) and the settlement of one's own claim. Statement after statement, each with a new snapshot; the
-- locks come first, so that all that is read was committed before.
-- Plans are made once, for any values, and the planner's choices are taken away from it: its statistics are of
-- yesterday when an event begins. Coupons that are gone stay in coupon_unissued_idx until a vacuum: p_behind spares
-- passing them each time, and v_window a look at all that are left on a page. What came back before it is found as soon as somebody asks from the beginning, and nobody hears
-- `none` before that was done.
-- Two that take the last two cannot see each other, so whether all is gone shows only after the commit. Whoever
-- sees fewer others than transactions run at once looks then; should that miss an end, the next who asks in
-- vain or reconcile finds it.
-- Rows of the outbox are struck last, so that reconcile waits for them no longer than a commit takes.
DROP FUNCTION issue_coupon(text, text, bigint, bigint, bigint, text, text, text, text);
CREATE FUNCTION issue_coupon(
    p_event text, p_queue text, p_incarnation bigint, p_epoch bigint, p_seq bigint, p_member text,
    p_claim text, p_admission text, p_key_hash text,
    p_behind bigint DEFAULT 0, p_few bigint DEFAULT 32, p_told bigint[] DEFAULT NULL,
    OUT outcome text, OUT coupon text, OUT code text, OUT issued_ms bigint, OUT admission_id text,
    OUT few_left boolean, OUT coupon_number bigint, OUT outbox_row bigint)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_sort = off SET enable_bitmapscan = off AS $$
#variable_conflict use_column
DECLARE
    v_locked boolean;
    v_incarnation bigint;
    v_epoch bigint;
    v_queue text;
    v_opens timestamptz;
    v_ends timestamptz;
    v_mine bigint;
    v_issued timestamptz;
    v_window CONSTANT bigint := 64;
    v_behind bigint := p_behind;
    v_until bigint := CASE WHEN p_behind > 0 THEN p_behind + v_window END;
    v_now timestamptz;
    v_detail text;
    v_others bigint;
BEGIN
    v_locked := pg_advisory_xact_lock_shared(queue_lock_number(p_queue)) IS NOT NULL;
    v_locked := pg_advisory_xact_lock(hashtextextended(p_event || '/' || p_member, 5414)) IS NOT NULL;
    SELECT q.incarnation, q.epoch, e.queue, e.opens_at, e.ends_at, c.id, c.code, c.issued_at, c.admission_id
      INTO v_incarnation, v_epoch, v_queue, v_opens, v_ends, v_mine, code, v_issued, admission_id
      FROM queue q
      LEFT JOIN coupon_event e ON e.id = p_event
      LEFT JOIN coupon c ON c.event = p_event AND c.member = p_member
     WHERE q.id = p_queue AND q.deleted_at IS NULL;
    IF v_incarnation IS NULL THEN
        RAISE EXCEPTION 'QUEUE_GONE' USING ERRCODE = 'SL009';
    ELSIF v_incarnation <> p_incarnation THEN
        RAISE EXCEPTION 'INCARNATION' USING ERRCODE = 'SL001';
    ELSIF v_queue IS NULL THEN
        RAISE EXCEPTION 'EVENT_GONE' USING ERRCODE = 'SL014';
    ELSIF v_queue <> p_queue THEN
        RAISE EXCEPTION 'EVENT_MOVED' USING ERRCODE = 'SL015';
    ELSIF v_mine IS NOT NULL THEN
        outcome := 'already';
        coupon := 'c_' || v_mine;
        coupon_number := v_mine;
        issued_ms := epoch_ms(v_issued);
        few_left := false;
        RETURN;
    ELSIF v_epoch <> p_epoch THEN
        RAISE EXCEPTION 'EPOCH' USING ERRCODE = 'SL013';
    END IF;

    v_now := clock_timestamp();
    IF v_now < v_opens OR v_now >= v_ends THEN
        outcome := CASE WHEN v_now < v_opens THEN 'not_open' ELSE 'ended' END;
        few_left := false;
        RETURN;
    END IF;

    LOOP
        UPDATE coupon c
           SET member = p_member, admission_id = p_admission, epoch = p_epoch, seq = p_seq, issued_at = v_now
         WHERE c.ctid = (
               SELECT k.ctid FROM coupon k
                WHERE k.event = p_event AND k.member IS NULL
                  AND k.id + 0 > v_behind AND k.id + 0 <= COALESCE(v_until, 9223372036854775807)
                ORDER BY k.id + 0 LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING c.id, c.code INTO coupon_number, code;
        EXIT WHEN coupon_number IS NOT NULL;
        IF v_until IS NULL AND v_behind <= 0 THEN
            outcome := 'none';
            few_left := false;
            RETURN;
        END IF;
        v_behind := CASE WHEN v_until IS NULL THEN 0 ELSE v_behind END;
        v_until := NULL;
    END LOOP;
    outcome := 'issued';
    coupon := 'c_' || coupon_number;
    issued_ms := epoch_ms(v_now);
    admission_id := p_admission;

    INSERT INTO claim_outcome (claim_id, outcome, order_id) VALUES (p_claim, 'committed', coupon)
        ON CONFLICT (claim_id) DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'CLAIM_RELEASED' USING ERRCODE = 'SL003';
    END IF;
    INSERT INTO admission_use (admission_id, queue, epoch, seq, kind, ref)
        VALUES (p_admission, p_queue, p_epoch, p_seq, 'coupon', coupon)
        ON CONFLICT (admission_id) DO NOTHING;
    IF NOT FOUND THEN
        SELECT concat_ws('/', u.ref, COALESCE(o.key_hash, ''), COALESCE(o.place_held, false))
          INTO v_detail
          FROM admission_use u LEFT JOIN customer_order o ON o.id = u.ref AND u.kind = 'order'
         WHERE u.admission_id = p_admission;
        RAISE EXCEPTION 'ADMISSION_SPENT' USING ERRCODE = 'SL004', DETAIL = v_detail;
    END IF;
    INSERT INTO outbox (queue, kind, member, order_id, admission_id, key_hash)
        VALUES (p_queue, 'consume', p_member, coupon, p_admission, p_key_hash)
        RETURNING id INTO outbox_row;

    -- Behind this one: before it are only those that others have taken, and now and then one that came back.
    few_left := false;
    IF p_few > 0 THEN
        SELECT count(*) INTO v_others
          FROM (SELECT FROM coupon k
                 WHERE k.event = p_event AND k.member IS NULL AND k.id + 0 > coupon_number
                 ORDER BY k.id + 0 LIMIT p_few) AS others;
        few_left := v_others < p_few;
        IF v_others = 0 THEN
            INSERT INTO outbox (queue, kind) VALUES (p_queue, 'sold_out');
        END IF;
    END IF;
    IF p_told IS NOT NULL THEN
        DELETE FROM outbox WHERE id = ANY (p_told);
    END IF;
    -- Again: the claim and the admission may have waited.
    IF clock_timestamp() >= v_ends THEN
        RAISE EXCEPTION 'EVENT_ENDED' USING ERRCODE = 'SL016';
    END IF;
END $$;
