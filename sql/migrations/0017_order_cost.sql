-- 0017_order_cost: what one order costs PostgreSQL.
-- Purpose   place_order() strikes rows of the outbox; one check a table where each order writes
-- Locks     ACCESS EXCLUSIVE on customer_order, order_item and product while their rows are checked
-- Undo      a new migration that restores the checks and the place_order() of 0012_seats

-- As 0015_coupon_cost says: PostgreSQL reads a check anew for each statement that writes, and an order of one item read
-- fourteen of them, which was two fifths of what it cost.

CREATE FUNCTION customer_order_is_whole(it customer_order) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN it.id ~ '^o_[A-Za-z0-9_-]{22}$'
        AND it.status IN ('PENDING_PAYMENT', 'PAID', 'PAYMENT_FAILED', 'EXPIRED', 'CANCEL_REQUESTED', 'CANCELED')
        AND it.total_amount BETWEEN 0 AND 9007199254740991
        AND (it.status <> 'PENDING_PAYMENT' OR it.expires_at IS NOT NULL)
        AND (it.status IN ('EXPIRED', 'CANCELED', 'PAYMENT_FAILED')) = (it.stock_returned_at IS NOT NULL)
        AND (NOT it.place_held OR it.status = 'PENDING_PAYMENT');
END $$;
ALTER TABLE customer_order
    DROP CONSTRAINT customer_order_id_check,
    DROP CONSTRAINT customer_order_status_check,
    DROP CONSTRAINT customer_order_total_check,
    DROP CONSTRAINT customer_order_expires_check,
    DROP CONSTRAINT customer_order_returned_check,
    DROP CONSTRAINT customer_order_place_check,
    ADD CONSTRAINT customer_order_whole_check CHECK (customer_order_is_whole(customer_order));

ALTER TABLE order_item
    DROP CONSTRAINT order_item_quantity_check,
    DROP CONSTRAINT order_item_unit_price_check,
    ADD CONSTRAINT order_item_whole_check CHECK (quantity BETWEEN 1 AND 10000 AND unit_price >= 0);

CREATE FUNCTION product_is_whole(it product) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN it.sku ~ '^[a-z0-9][a-z0-9-]{0,62}$'
        AND char_length(it.name) BETWEEN 1 AND 200
        AND it.price_amount BETWEEN 0 AND 1000000000000
        AND it.currency ~ '^[A-Z]{3}$'
        AND it.stock BETWEEN 0 AND 1000000000
        AND it.available BETWEEN 0 AND it.stock;
END $$;
ALTER TABLE product
    DROP CONSTRAINT product_sku_check,
    DROP CONSTRAINT product_name_check,
    DROP CONSTRAINT product_price_amount_check,
    DROP CONSTRAINT product_currency_check,
    DROP CONSTRAINT product_stock_check,
    DROP CONSTRAINT product_available_check,
    ADD CONSTRAINT product_whole_check CHECK (product_is_whole(product));
COMMENT ON CONSTRAINT product_whole_check ON product IS 'Among others: never oversold, never given back twice.';

-- Places an order, or finds the one that the same key has made. Arguments: queue, incarnation, epoch and
-- number as the claim gave them; member; idempotency key, its hash, and the request's fingerprint; claim
-- and admission to spend; the id that a new order gets; SKUs (each once) and quantities; seconds until an
-- unpaid order expires; whether its place stays taken until then; the show and its seats (each once) where
-- seats are ordered, and then no SKUs; rows of the outbox to strike, which were carried out (NULL: none). The release
-- before leaves the last one out.
-- Returns one row: the order, whether it is an earlier one (then nothing was written), the admission that
-- it spent, whether this order took the last of something (of seats: perhaps, see take_seats()), and the new order's
-- row in the outbox, for whoever tells Redis.
-- DETAIL of SL004 is `order id/key hash/t or f`, the latter telling whether that order holds its place.
-- Volatile, and one statement after the other: each takes a new snapshot, so that what was waited for is
-- seen. Stock and seats come last, for their rows are those that everybody wants, and in the order of SKUs
-- and of ids, so that two orders never wait for each other. Nobody waits for a row of the outbox: reconcile passes
-- those that are locked.
-- An order of seats relies on what put_show() does: whoever orders holds the queue's lock shared, and a show
-- changes its queue or its currency under the exclusive one; anything else shows in the seats' own rows.
DROP FUNCTION place_order(
    text, bigint, bigint, bigint, text, text, text, text, text, text, text, text[], integer[], bigint, boolean, text, text[]);
CREATE FUNCTION place_order(
    p_queue text, p_incarnation bigint, p_epoch bigint, p_seq bigint, p_member text,
    p_key text, p_key_hash text, p_fingerprint text, p_claim text, p_admission text, p_order text,
    p_skus text[], p_quantities integer[], p_ttl_seconds bigint, p_keep_place boolean,
    p_show text DEFAULT NULL, p_seats text[] DEFAULT NULL, p_told bigint[] DEFAULT NULL)
RETURNS TABLE (
    id text, queue text, status text, total_amount bigint, currency text, created_us bigint,
    expires_us bigint, items text, place_held boolean, replayed boolean, admission_id text,
    took_last boolean, show text, seats text, outbox_row bigint)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    v_incarnation bigint;
    v_epoch bigint;
    v_skus text[];
    v_quantities integer[];
    v_seats text[];
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
    v_row bigint;
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

    IF p_show IS NOT NULL THEN
        SELECT w.seats, w.missing, w.total, w.currency, w.currency, w.refusal
          INTO v_seats, v_missing, v_total, v_currency, v_other_currency, v_refusal
          FROM price_seats(p_queue, p_show, p_seats) AS w;
    ELSE
        SELECT array_agg(i.sku ORDER BY i.sku COLLATE "C"),
               array_agg(i.quantity ORDER BY i.sku COLLATE "C"),
               array_agg(p.price_amount ORDER BY i.sku COLLATE "C"),
               min(i.sku) FILTER (WHERE p.sku IS NULL),
               sum(p.price_amount * i.quantity), min(p.currency), max(p.currency)
          INTO v_skus, v_quantities, v_prices, v_missing, v_total, v_currency, v_other_currency
          FROM unnest(p_skus, p_quantities) AS i (sku, quantity)
          LEFT JOIN product p ON p.sku = i.sku AND p.queue = p_queue;
    END IF;
    IF v_refusal IS NOT NULL THEN
        v_detail := COALESCE(v_missing, '');
    ELSIF v_missing IS NOT NULL THEN
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
                admission_id, claim_id, status, total_amount, currency, expires_at, place_held, show)
            VALUES (p_order, p_queue, p_member, p_key, p_key_hash, p_fingerprint,
                p_admission, p_claim, v_status, v_total, v_currency, v_expires,
                p_keep_place AND v_total > 0, p_show)
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
            v_before.place_held, true, v_before.admission_id, false, v_before.show, v_before.seats, NULL::bigint;
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
        VALUES (p_queue, 'consume', p_member, p_order, p_admission, p_key_hash)
        RETURNING outbox.id INTO v_row;
    IF p_told IS NOT NULL THEN
        DELETE FROM outbox b WHERE b.id = ANY (p_told);
    END IF;

    IF p_show IS NOT NULL THEN
        v_took_last := take_seats(p_queue, p_show, p_member, p_order, v_seats, v_total::bigint);
        RETURN QUERY SELECT o.id, o.queue, o.status, o.total_amount, o.currency, o.created_us, o.expires_us,
            o.items, o.place_held, false, o.admission_id, v_took_last, o.show, o.seats, v_row
          FROM order_view o WHERE o.id = p_order;
        RETURN;
    END IF;
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
        p_keep_place AND v_total > 0, false, p_admission, v_took_last, NULL::text, NULL::text, v_row;
END $$;
