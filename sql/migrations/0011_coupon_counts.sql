-- 0011_coupon_counts: what Redis is told of coupon events, and when all that is left will be over.
-- Purpose   coupon_event.coupons, live_coupon_events(), goods_end(); availability() says it with the finding
-- Locks     ACCESS EXCLUSIVE on coupon_event and SHARE ROW EXCLUSIVE on coupon while the coupons there are counted
-- Undo      a new migration that drops them and restores availability()

ALTER TABLE coupon_event ADD COLUMN coupons bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN coupon_event.coupons IS 'How many rows of coupon are its own, issued or not; kept by count_coupons().';

-- Once a statement, so that a million rows cost one change.
CREATE FUNCTION count_coupons() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE coupon_event e
       SET coupons = e.coupons + CASE TG_OP WHEN 'DELETE' THEN -k.count ELSE k.count END
      FROM (SELECT c.event, count(*) AS count FROM changed c GROUP BY c.event) AS k
     WHERE e.id = k.event;
    RETURN NULL;
END $$;
CREATE TRIGGER coupon_added AFTER INSERT ON coupon
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_coupons();
CREATE TRIGGER coupon_removed AFTER DELETE ON coupon
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_coupons();
UPDATE coupon_event e SET coupons = (SELECT count(*) FROM coupon c WHERE c.event = e.id);

-- Those that Redis is told of: until a day after their end, the newest first.
CREATE FUNCTION live_coupon_events(p_queue text) RETURNS SETOF coupon_event
LANGUAGE sql STABLE ROWS 5 AS $$
    SELECT * FROM coupon_event e
     WHERE e.queue = p_queue AND (e.ends_at IS NULL OR e.ends_at > clock_timestamp() - interval '1 day')
     ORDER BY e.created_at DESC, e.id LIMIT 500
$$;

-- An event as Redis keeps it: total/gone/opensMs/endsMs. Gone: no row is unissued, locked or not.
CREATE FUNCTION coupon_record(p_event coupon_event) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT concat_ws('/', p_event.coupons, CASE WHEN coupons_left(p_event.id) THEN 0 ELSE 1 END,
        greatest(COALESCE(epoch_ms(p_event.opens_at), 0), 0), greatest(COALESCE(epoch_ms(p_event.ends_at), 0), 0))
$$;

-- Of which event the coupon is that a claim or the outbox names; NULL for an order. A function of its own keeps the
-- planner from reading all coupons for it, whatever it believes of how many there are.
CREATE FUNCTION coupon_event_of(p_ref text) RETURNS text
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    IF p_ref LIKE 'c\_%' THEN
        RETURN (SELECT c.event FROM coupon c WHERE c.id = substr(p_ref, 3)::bigint);
    END IF;
    RETURN NULL;
END $$;

-- What Redis has to know: each event's record, how many are issued, and of how many of those the outbox has yet to tell.
-- One look at all, so that no coupon is counted as issued and not as untold.
CREATE FUNCTION coupon_counts(p_queue text)
RETURNS TABLE (event text, record text, issued bigint, untold bigint)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_event coupon_event%ROWTYPE;
    v_untold jsonb;
BEGIN
    SELECT jsonb_object_agg(o.event, o.count) INTO v_untold
      FROM (SELECT coupon_event_of(b.order_id) AS event, count(*) AS count
              FROM outbox b WHERE b.queue = p_queue AND b.kind = 'consume' GROUP BY 1) AS o
     WHERE o.event IS NOT NULL;
    FOR v_event IN SELECT * FROM live_coupon_events(p_queue) LOOP
        RETURN QUERY SELECT v_event.id, coupon_record(v_event),
            (SELECT count(*) FROM coupon c WHERE c.event = v_event.id AND c.member IS NOT NULL),
            COALESCE((v_untold ->> v_event.id)::bigint, 0);
    END LOOP;
END $$;

-- When all that is left of what a queue sells will be over by itself; NULL: not all of it ever, or nothing is left.
CREATE FUNCTION goods_end(p_queue text) RETURNS timestamptz
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_end timestamptz;
    v_endless boolean;
BEGIN
    IF EXISTS (SELECT FROM product p WHERE p.queue = p_queue AND p.available > 0) THEN
        RETURN NULL;
    END IF;
    SELECT max(e.ends_at), bool_or(e.ends_at IS NULL) INTO v_end, v_endless
      FROM coupon_event e
     WHERE e.queue = p_queue AND (e.ends_at IS NULL OR e.ends_at > clock_timestamp()) AND coupons_left(e.id);
    RETURN CASE WHEN NOT v_endless THEN v_end END;
END $$;

-- As in 0010_coupons; with the finding goes when it will change by itself, and what there is to say of each coupon
-- event: `event record event record …`. All of it under the queue's row lock, by which findings are numbered.
DROP FUNCTION availability(text, boolean);
CREATE FUNCTION availability(p_queue text, p_reopen boolean)
RETURNS TABLE (sold_out boolean, change bigint, due_ms bigint, coupons text)
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
    UPDATE queue q
       SET sold_out = COALESCE(v_sold_out, false), sold_out_change = q.sold_out_change + 1
     WHERE q.id = p_queue
    RETURNING q.sold_out, q.sold_out_change INTO v_queue.sold_out, v_queue.sold_out_change;
    RETURN QUERY SELECT v_queue.sold_out, v_queue.sold_out_change, epoch_ms(goods_end(p_queue)),
        (SELECT string_agg(e.id || ' ' || coupon_record(e), ' ') FROM live_coupon_events(p_queue) AS e);
END $$;
