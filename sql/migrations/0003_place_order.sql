-- 0003_place_order: one call is one order: all of it or nothing.
-- Purpose   place_order(), the view that orders are read through, and raise_incarnation()
-- Locks     none
-- Undo      a new migration that drops them
--
-- Refusals are errors with an SQLSTATE of our own, so that whatever was written is rolled back:
--   SL001 the queue's incarnation is another one     SL006 an item is not sold through this queue (DETAIL: sku)
--   SL002 the key belongs to another order           SL007 the items' currencies differ
--   SL003 the claim was settled before               SL008 the total is beyond what JSON numbers carry
--   SL004 the admission is spent (DETAIL: see below) SL009 there is no such queue
--   SL013 the queue was reset since the claim
--   SL005 not enough left (DETAIL: sku)

-- What the reading queries give of an order. Times are microseconds since 1970, items are
-- `sku:quantity:unit price`, separated by spaces, in the order of their SKUs.
CREATE VIEW order_view AS
SELECT o.id, o.queue, o.status, o.total_amount, o.currency,
       (extract(epoch FROM o.created_at) * 1000000)::bigint AS created_us,
       (extract(epoch FROM o.expires_at) * 1000000)::bigint AS expires_us,
       (SELECT string_agg(concat_ws(':', i.sku, i.quantity, i.unit_price), ' ' ORDER BY i.sku)
          FROM order_item i WHERE i.order_id = o.id) AS items,
       o.place_held, o.member, o.idempotency_key, o.key_hash, o.fingerprint, o.admission_id,
       o.created_at
  FROM customer_order o;
COMMENT ON VIEW order_view IS 'Serves order_find.sql, order_list.sql, order_by_key.sql, place_order(), cancel_order().';

CREATE FUNCTION queue_lock_number(p_queue text) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN hashtextextended(p_queue, 5413);
COMMENT ON FUNCTION queue_lock_number IS 'The advisory lock of a queue: shared by whoever spends an admission of it, exclusive for raising its incarnation.';

-- Places an order, or finds the one that the same key has made. Arguments: queue, incarnation, epoch and
-- number as the claim gave them; member; idempotency key, its hash, and the request's fingerprint; claim
-- and admission to spend; the id that a new order gets; SKUs (each once) and quantities; seconds until an
-- unpaid order expires; whether its place stays taken until then.
-- Returns one row: the order, whether it is an earlier one (then nothing was written), the admission that
-- it spent, and whether this order took the last of something.
-- DETAIL of SL004 is `order id/key hash/t or f`, the latter telling whether that order holds its place.
-- Volatile, and one statement after the other: each takes a new snapshot, so that what was waited for is
-- seen. Stock comes last, for its row is the one that everybody wants, and in the order of SKUs, so that
-- two orders never wait for each other.
CREATE FUNCTION place_order(
    p_queue text, p_incarnation bigint, p_epoch bigint, p_seq bigint, p_member text,
    p_key text, p_key_hash text, p_fingerprint text, p_claim text, p_admission text, p_order text,
    p_skus text[], p_quantities integer[], p_ttl_seconds bigint, p_keep_place boolean)
RETURNS TABLE (
    id text, queue text, status text, total_amount bigint, currency text, created_us bigint,
    expires_us bigint, items text, place_held boolean, replayed boolean, admission_id text,
    took_last boolean)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    v_incarnation bigint;
    v_epoch bigint;
    v_skus text[];
    v_quantities integer[];
    v_prices bigint[];
    v_missing text;
    v_total numeric;
    v_currency text;
    v_other_currency text;
    v_refusal text;
    v_detail text := '';
    v_inserted boolean := false;
    v_before order_view%ROWTYPE;
    v_status text;
    v_expires timestamptz;
    v_left bigint;
    v_took_last boolean := false;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(queue_lock_number(p_queue));
    SELECT q.incarnation, q.epoch INTO v_incarnation, v_epoch
      FROM queue q WHERE q.id = p_queue AND q.deleted_at IS NULL;
    IF v_incarnation IS NULL THEN
        RAISE EXCEPTION 'QUEUE_GONE' USING ERRCODE = 'SL009';
    ELSIF v_incarnation <> p_incarnation THEN
        RAISE EXCEPTION 'INCARNATION' USING ERRCODE = 'SL001';
    END IF;

    SELECT array_agg(i.sku ORDER BY i.sku COLLATE "C"),
           array_agg(i.quantity ORDER BY i.sku COLLATE "C"),
           array_agg(p.price_amount ORDER BY i.sku COLLATE "C"),
           min(i.sku) FILTER (WHERE p.sku IS NULL),
           sum(p.price_amount * i.quantity), min(p.currency), max(p.currency)
      INTO v_skus, v_quantities, v_prices, v_missing, v_total, v_currency, v_other_currency
      FROM unnest(p_skus, p_quantities) AS i (sku, quantity)
      LEFT JOIN product p ON p.sku = i.sku AND p.queue = p_queue;
    IF v_missing IS NOT NULL THEN
        v_refusal := 'SL006';
        v_detail := v_missing;
    ELSIF v_currency <> v_other_currency THEN
        v_refusal := 'SL007';
    ELSIF v_total > 9007199254740991 THEN
        v_refusal := 'SL008';
    ELSE
        v_status := CASE v_total WHEN 0 THEN 'PAID' ELSE 'PENDING_PAYMENT' END;
        v_expires := CASE WHEN v_total > 0 THEN now() + make_interval(secs => p_ttl_seconds) END;
        INSERT INTO customer_order (id, queue, member, idempotency_key, key_hash, fingerprint,
                admission_id, claim_id, status, total_amount, currency, expires_at, place_held)
            VALUES (p_order, p_queue, p_member, p_key, p_key_hash, p_fingerprint,
                p_admission, p_claim, v_status, v_total, v_currency, v_expires,
                p_keep_place AND v_total > 0)
            ON CONFLICT (member, idempotency_key) DO NOTHING;
        v_inserted := FOUND;
    END IF;

    IF NOT v_inserted THEN
        SELECT * INTO v_before
          FROM order_view o WHERE o.member = p_member AND o.idempotency_key = p_key;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'the order cannot be placed'
                USING ERRCODE = COALESCE(v_refusal, 'XX000'), DETAIL = v_detail;
        ELSIF v_before.fingerprint <> p_fingerprint THEN
            RAISE EXCEPTION 'KEY_REUSED' USING ERRCODE = 'SL002';
        END IF;
        RETURN QUERY SELECT v_before.id, v_before.queue, v_before.status, v_before.total_amount,
            v_before.currency, v_before.created_us, v_before.expires_us, v_before.items,
            v_before.place_held, true, v_before.admission_id, false;
        RETURN;
    END IF;

    -- Only now: a repeat of an order from before the reset has been answered.
    IF v_epoch <> p_epoch THEN
        RAISE EXCEPTION 'EPOCH' USING ERRCODE = 'SL013';
    END IF;

    INSERT INTO claim_outcome (claim_id, outcome, order_id) VALUES (p_claim, 'committed', p_order)
        ON CONFLICT (claim_id) DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'CLAIM_RELEASED' USING ERRCODE = 'SL003';
    END IF;

    INSERT INTO admission_use (admission_id, queue, epoch, seq, kind, ref)
        VALUES (p_admission, p_queue, p_epoch, p_seq, 'order', p_order)
        ON CONFLICT (admission_id) DO NOTHING;
    IF NOT FOUND THEN
        SELECT concat_ws('/', u.ref, COALESCE(o.key_hash, ''), COALESCE(o.place_held, false))
          INTO v_detail
          FROM admission_use u LEFT JOIN customer_order o ON o.id = u.ref AND u.kind = 'order'
         WHERE u.admission_id = p_admission;
        RAISE EXCEPTION 'ADMISSION_SPENT' USING ERRCODE = 'SL004', DETAIL = v_detail;
    END IF;

    INSERT INTO order_item (order_id, sku, quantity, unit_price)
        SELECT p_order, i.sku, i.quantity, i.price
          FROM unnest(v_skus, v_quantities, v_prices) AS i (sku, quantity, price);
    INSERT INTO outbox (queue, kind, member, order_id, admission_id, key_hash)
        VALUES (p_queue, 'consume', p_member, p_order, p_admission, p_key_hash);

    FOR n IN 1 .. cardinality(v_skus) LOOP
        UPDATE product p SET available = p.available - v_quantities[n]
         WHERE p.sku = v_skus[n] AND p.queue = p_queue AND p.available >= v_quantities[n]
        RETURNING p.available INTO v_left;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'OUT_OF_STOCK' USING ERRCODE = 'SL005', DETAIL = v_skus[n];
        END IF;
        v_took_last := v_took_last OR v_left = 0;
    END LOOP;
    IF v_took_last THEN
        INSERT INTO outbox (queue, kind) VALUES (p_queue, 'sold_out');
    END IF;

    RETURN QUERY SELECT p_order, p_queue, v_status, v_total::bigint, v_currency,
        (extract(epoch FROM now()) * 1000000)::bigint,
        (extract(epoch FROM v_expires) * 1000000)::bigint,
        (SELECT string_agg(concat_ws(':', i.sku, i.quantity, i.price), ' ' ORDER BY i.n)
           FROM unnest(v_skus, v_quantities, v_prices) WITH ORDINALITY AS i (sku, quantity, price, n)),
        p_keep_place AND v_total > 0, false, p_admission, v_took_last;
END $$;

-- Redis has lost its memory: whatever it remembered of a queue's tokens is void from here on. Waits for
-- the orders that run and keeps new ones out meanwhile; those that were claimed before then see another
-- incarnation. Of several callers who expect the same one, one raises it.
-- Returns the incarnation that holds now, NULL for a queue that is not there.
CREATE FUNCTION raise_incarnation(p_queue text, p_expected bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET lock_timeout = 0 AS $$
DECLARE
    v_incarnation bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(queue_lock_number(p_queue));
    UPDATE queue SET incarnation = incarnation + 1, version = version + 1
     WHERE id = p_queue AND incarnation = p_expected AND deleted_at IS NULL
    RETURNING incarnation INTO v_incarnation;
    IF FOUND THEN
        INSERT INTO outbox (queue, kind) VALUES (p_queue, 'sold_out');
    ELSE
        SELECT q.incarnation INTO v_incarnation
          FROM queue q WHERE q.id = p_queue AND q.deleted_at IS NULL;
    END IF;
    RETURN v_incarnation;
END $$;
COMMENT ON FUNCTION raise_incarnation IS 'lock_timeout is off: the wait is bounded by statement_timeout, here and in every order that it waits for.';
