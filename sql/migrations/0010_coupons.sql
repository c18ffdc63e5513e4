-- 0010_coupons: first-come coupons: one a member, none twice.
-- Purpose   events, their pool of coupons, issue_coupon(); what coupons mean for sold out and for claims
-- Locks     none beyond the tables made here; SHARE ROW EXCLUSIVE on queue for a moment, for a foreign key
-- Undo      a new migration that drops them and restores availability() and settle_claim()
--
-- SL014 there is no such event          SL016 the event has ended
-- SL015 it belongs to another queue     (SL001, SL003, SL004, SL009, SL012, SL013 as before)

CREATE TABLE coupon_event (
    id         text COLLATE "C" NOT NULL,
    name       text NOT NULL,
    queue      text COLLATE "C" NOT NULL,
    opens_at   timestamptz,
    ends_at    timestamptz,
    captcha    text COLLATE "C" NOT NULL DEFAULT 'none',
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT coupon_event_pkey PRIMARY KEY (id),
    CONSTRAINT coupon_event_queue_fkey FOREIGN KEY (queue) REFERENCES queue (id),
    CONSTRAINT coupon_event_id_check CHECK (id ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    CONSTRAINT coupon_event_name_check CHECK (char_length(name) BETWEEN 1 AND 200),
    CONSTRAINT coupon_event_captcha_check CHECK (captcha IN ('none', 'altcha', 'siteverify')),
    CONSTRAINT coupon_event_time_check CHECK (opens_at < ends_at)
);
COMMENT ON TABLE coupon_event IS 'A pool of coupons and when they are given out. Never deleted.';
COMMENT ON COLUMN coupon_event.opens_at IS 'First moment of issuing by this server''s clock; NULL: at once.';
COMMENT ON COLUMN coupon_event.ends_at IS 'First moment at which nothing is issued any more; NULL: never.';
CREATE INDEX coupon_event_queue_idx ON coupon_event (queue);
COMMENT ON INDEX coupon_event_queue_idx IS 'Serves queue_goods(): what is given out through a queue.';

CREATE TABLE coupon (
    id           bigint GENERATED ALWAYS AS IDENTITY,
    event        text COLLATE "C" NOT NULL,
    code         text COLLATE "C" NOT NULL,
    member       text COLLATE "C",
    admission_id text COLLATE "C",
    epoch        bigint,
    seq          bigint,
    issued_at    timestamptz,
    CONSTRAINT coupon_pkey PRIMARY KEY (id),
    CONSTRAINT coupon_code_key UNIQUE (event, code),
    CONSTRAINT coupon_event_fkey FOREIGN KEY (event) REFERENCES coupon_event (id),
    CONSTRAINT coupon_code_check CHECK (code ~ '^[!-~]{1,64}$'),
    CONSTRAINT coupon_issued_check CHECK (num_nulls(member, admission_id, epoch, seq, issued_at) IN (0, 5))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
COMMENT ON TABLE coupon IS 'A coupon, as good as money: shown to its member and to operators alone. Vacuumed often: whoever takes '
    'the next one passes what is gone.';
COMMENT ON COLUMN coupon.member IS 'Whose it is; NULL: not issued.';
COMMENT ON COLUMN coupon.seq IS 'The number in the queue, and its epoch, with which it was got.';
CREATE UNIQUE INDEX coupon_member_key ON coupon (event, member) WHERE member IS NOT NULL;
COMMENT ON INDEX coupon_member_key IS 'One a member. Serves coupon_find.sql and coupons_page.sql.';
-- (id + 0), not id: no other index gives this order, so that none of them can look better to a planner with
-- old statistics. Each would make it read every coupon that is gone already.
CREATE INDEX coupon_unissued_idx ON coupon (event, (id + 0)) WHERE member IS NULL;
COMMENT ON INDEX coupon_unissued_idx IS 'Serves issue_coupon() and coupons_left(): what is left, the oldest first.';

-- Volatile: the caller has waited for something and wants to see it.
CREATE FUNCTION coupons_left(p_event text) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
BEGIN
    RETURN EXISTS (SELECT FROM coupon c WHERE c.event = p_event AND c.member IS NULL);
END $$;
COMMENT ON FUNCTION coupons_left IS 'Whether any coupon is unissued, one that a running transaction has taken included.';

-- Creates an event or replaces what is said of it. Times are ms since 1970, NULL for none.
-- Returns true for a new one. One of which something is issued stays with its queue: whoever issues holds the
-- queue's lock shared, so under the exclusive one nothing is on its way.
CREATE FUNCTION put_coupon_event(
    p_id text, p_name text, p_queue text, p_opens_ms bigint, p_ends_ms bigint, p_captcha text,
    p_actor text, p_request_id text) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_opens timestamptz := 'epoch'::timestamptz + p_opens_ms * interval '1 millisecond';
    v_ends timestamptz := 'epoch'::timestamptz + p_ends_ms * interval '1 millisecond';
    v_old coupon_event%ROWTYPE;
    v_new coupon_event%ROWTYPE;
    v_created boolean;
BEGIN
    PERFORM FROM queue q WHERE q.id = p_queue AND q.deleted_at IS NULL FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'QUEUE_GONE' USING ERRCODE = 'SL009';
    END IF;
    INSERT INTO coupon_event (id, name, queue, opens_at, ends_at, captcha)
        VALUES (p_id, p_name, p_queue, v_opens, v_ends, p_captcha)
        ON CONFLICT (id) DO NOTHING RETURNING * INTO v_new;
    v_created := FOUND;
    IF NOT v_created THEN
        SELECT * INTO v_old FROM coupon_event e WHERE e.id = p_id FOR NO KEY UPDATE;
        IF v_old.queue <> p_queue THEN
            PERFORM pg_advisory_xact_lock(queue_lock_number(v_old.queue));
            IF EXISTS (SELECT FROM coupon c WHERE c.event = p_id AND c.member IS NOT NULL) THEN
                RAISE EXCEPTION 'QUEUE_FIXED' USING ERRCODE = 'SL012', DETAIL = v_old.queue;
            END IF;
            INSERT INTO outbox (queue, kind) VALUES (v_old.queue, 'sold_out');
        END IF;
        UPDATE coupon_event e
           SET name = p_name, queue = p_queue, opens_at = v_opens, ends_at = v_ends,
               captcha = p_captcha, updated_at = now()
         WHERE e.id = p_id AND (e.name, e.queue, e.opens_at, e.ends_at, e.captcha)
               IS DISTINCT FROM (p_name, p_queue, v_opens, v_ends, p_captcha)
        RETURNING * INTO v_new;
    END IF;
    INSERT INTO outbox (queue, kind) VALUES (p_queue, 'sold_out');
    IF v_new.id IS NOT NULL THEN
        INSERT INTO audit (actor, action, target, request_id, details)
        VALUES (p_actor, CASE WHEN v_created THEN 'create' ELSE 'change' END, 'coupon-event/' || p_id,
            p_request_id, jsonb_build_object('before', CASE WHEN NOT v_created THEN to_jsonb(v_old) END,
                'after', to_jsonb(v_new)));
    END IF;
    RETURN v_created;
END $$;

-- Issues one coupon of an event to a member, or finds the one that the member has. Arguments: event; queue,
-- incarnation, epoch and number as the claim gave them; member; claim and admission to spend; hash of the
-- event's key, by which the spent token finds the coupon again.
-- Returns one row. `issued`: a new one. `already`: the member's own of before, nothing written, nothing spent.
-- `not_open`, `ended`. `none`: no row is free, which is no word on whether one may yet become so. And for
-- `issued`, whether so few are left that somebody has to look after the commit: see below.
-- DETAIL of SL004 is that of place_order().
--
-- Nobody waits for anybody's row: rows taken by others are skipped. What is waited for is one's own twin (the
-- member's lock) and the settlement of one's own claim. Statement after statement, each with a new snapshot.
-- The planner's choices are taken away from it: its statistics are of yesterday when an event begins.
-- Two that take the last two cannot see each other, so whether all is gone shows only after the commit. Whoever
-- sees fewer others than transactions run at once looks then; should that miss an end, the next who asks in
-- vain or reconcile finds it.
CREATE FUNCTION issue_coupon(
    p_event text, p_queue text, p_incarnation bigint, p_epoch bigint, p_seq bigint, p_member text,
    p_claim text, p_admission text, p_key_hash text)
RETURNS TABLE (
    outcome text, coupon text, code text, issued_ms bigint, admission_id text, few_left boolean)
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_sort = off SET enable_bitmapscan = off AS $$
#variable_conflict use_column
DECLARE
    v_few CONSTANT bigint := 32;
    v_incarnation bigint;
    v_epoch bigint;
    v_event coupon_event%ROWTYPE;
    v_mine coupon%ROWTYPE;
    v_ref text;
    v_now timestamptz;
    v_detail text;
    v_others bigint;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(queue_lock_number(p_queue));
    SELECT q.incarnation, q.epoch INTO v_incarnation, v_epoch
      FROM queue q WHERE q.id = p_queue AND q.deleted_at IS NULL;
    IF v_incarnation IS NULL THEN
        RAISE EXCEPTION 'QUEUE_GONE' USING ERRCODE = 'SL009';
    ELSIF v_incarnation <> p_incarnation THEN
        RAISE EXCEPTION 'INCARNATION' USING ERRCODE = 'SL001';
    END IF;
    SELECT * INTO v_event FROM coupon_event e WHERE e.id = p_event;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'EVENT_GONE' USING ERRCODE = 'SL014';
    ELSIF v_event.queue <> p_queue THEN
        RAISE EXCEPTION 'EVENT_MOVED' USING ERRCODE = 'SL015';
    END IF;

    PERFORM pg_advisory_xact_lock(hashtextextended(p_event || '/' || p_member, 5414));
    SELECT * INTO v_mine FROM coupon c WHERE c.event = p_event AND c.member = p_member;
    IF FOUND THEN
        RETURN QUERY SELECT 'already', 'c_' || v_mine.id, v_mine.code, epoch_ms(v_mine.issued_at),
            v_mine.admission_id, false;
        RETURN;
    ELSIF v_epoch <> p_epoch THEN
        RAISE EXCEPTION 'EPOCH' USING ERRCODE = 'SL013';
    END IF;

    v_now := clock_timestamp();
    IF v_now < v_event.opens_at OR v_now >= v_event.ends_at THEN
        RETURN QUERY SELECT CASE WHEN v_now < v_event.opens_at THEN 'not_open' ELSE 'ended' END,
            NULL, NULL, NULL::bigint, NULL, false;
        RETURN;
    END IF;

    SELECT * INTO v_mine FROM coupon c
     WHERE c.event = p_event AND c.member IS NULL
     ORDER BY c.id + 0 LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'none', NULL, NULL, NULL::bigint, NULL, false;
        RETURN;
    END IF;
    v_ref := 'c_' || v_mine.id;

    INSERT INTO claim_outcome (claim_id, outcome, order_id) VALUES (p_claim, 'committed', v_ref)
        ON CONFLICT (claim_id) DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'CLAIM_RELEASED' USING ERRCODE = 'SL003';
    END IF;
    INSERT INTO admission_use (admission_id, queue, epoch, seq, kind, ref)
        VALUES (p_admission, p_queue, p_epoch, p_seq, 'coupon', v_ref)
        ON CONFLICT (admission_id) DO NOTHING;
    IF NOT FOUND THEN
        SELECT concat_ws('/', u.ref, COALESCE(o.key_hash, ''), COALESCE(o.place_held, false))
          INTO v_detail
          FROM admission_use u LEFT JOIN customer_order o ON o.id = u.ref AND u.kind = 'order'
         WHERE u.admission_id = p_admission;
        RAISE EXCEPTION 'ADMISSION_SPENT' USING ERRCODE = 'SL004', DETAIL = v_detail;
    END IF;

    -- Again: those two may have waited.
    v_now := clock_timestamp();
    IF v_now >= v_event.ends_at THEN
        RAISE EXCEPTION 'EVENT_ENDED' USING ERRCODE = 'SL016';
    END IF;
    UPDATE coupon c
       SET member = p_member, admission_id = p_admission, epoch = p_epoch, seq = p_seq, issued_at = v_now
     WHERE c.id = v_mine.id;
    INSERT INTO outbox (queue, kind, member, order_id, admission_id, key_hash)
        VALUES (p_queue, 'consume', p_member, v_ref, p_admission, p_key_hash);
    -- Behind this one: before it are only those that others have taken.
    SELECT count(*) INTO v_others
      FROM (SELECT FROM coupon c
             WHERE c.event = p_event AND c.member IS NULL AND c.id + 0 > v_mine.id
             ORDER BY c.id + 0 LIMIT v_few) AS others;
    IF v_others = 0 THEN
        INSERT INTO outbox (queue, kind) VALUES (p_queue, 'sold_out');
    END IF;
    RETURN QUERY SELECT 'issued', v_ref, v_mine.code, epoch_ms(v_now), p_admission, v_others < v_few;
END $$;

-- What is sold or given out through a queue: whether there is anything, and whether anything of it is left.
-- An event without coupons is not there yet; one that has ended has nothing left for anybody who waits.
CREATE FUNCTION queue_goods(p_queue text, OUT sells boolean, OUT is_left boolean)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_event record;
BEGIN
    SELECT count(*) > 0, COALESCE(bool_or(p.available > 0), false) INTO sells, is_left
      FROM product p WHERE p.queue = p_queue;
    FOR v_event IN
        SELECT e.id, e.ends_at <= clock_timestamp() AS over FROM coupon_event e WHERE e.queue = p_queue
    LOOP
        EXIT WHEN is_left;
        is_left := v_event.over IS NOT TRUE AND coupons_left(v_event.id);
        sells := sells OR is_left OR EXISTS (SELECT FROM coupon c WHERE c.event = v_event.id);
    END LOOP;
END $$;

-- As in 0005_stock, of products and of coupons.
CREATE OR REPLACE FUNCTION availability(p_queue text, p_reopen boolean)
RETURNS TABLE (sold_out boolean, change bigint)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    v_queue queue%ROWTYPE;
    v_sells boolean;
    v_left boolean;
    v_sold_out boolean;
BEGIN
    SELECT * INTO v_queue FROM queue q
     WHERE q.id = p_queue AND q.deleted_at IS NULL FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT g.sells, g.is_left INTO v_sells, v_left FROM queue_goods(p_queue) AS g;
    v_sold_out := v_sells AND NOT v_left;
    IF v_sells AND v_left AND v_queue.sold_out AND NOT p_reopen THEN
        v_sold_out := v_queue.settings -> 'reopen' = 'false';
    END IF;
    RETURN QUERY UPDATE queue q
       SET sold_out = COALESCE(v_sold_out, false), sold_out_change = q.sold_out_change + 1
     WHERE q.id = p_queue
    RETURNING q.sold_out, q.sold_out_change;
END $$;

-- As in 0004_order_end; what a claim has bought may be a coupon too.
CREATE OR REPLACE FUNCTION settle_claim(p_claim text)
RETURNS TABLE (
    outcome text, order_id text, queue text, member text, admission_id text, key_hash text,
    keep_place boolean)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
    INSERT INTO claim_outcome (claim_id, outcome) VALUES (p_claim, 'released')
        ON CONFLICT (claim_id) DO NOTHING;
    RETURN QUERY SELECT c.outcome, c.order_id, COALESCE(o.queue, e.queue), COALESCE(o.member, k.member),
        COALESCE(o.admission_id, k.admission_id), o.key_hash, COALESCE(o.place_held, false)
      FROM claim_outcome c
      LEFT JOIN customer_order o ON o.id = c.order_id
      LEFT JOIN coupon k
        ON k.id = CASE WHEN c.order_id LIKE 'c\_%' THEN substr(c.order_id, 3)::bigint END
      LEFT JOIN coupon_event e ON e.id = k.event
     WHERE c.claim_id = p_claim;
END $$;
