-- 0004_order_end: how claims and unpaid orders end.
-- Purpose   settle_claim(), cancel_order(), expire_orders()
-- Locks     none
-- Undo      a new migration that drops them
--
-- SL010: the order cannot be canceled any more (DETAIL: its status).

-- Decides a claim whose lease has run out. If its transaction runs at this moment, its end is waited for;
-- if it has yet to begin, it will fail on the row inserted here.
-- Returns one row: 'released', or 'committed' with what consuming the token takes.
CREATE FUNCTION settle_claim(p_claim text)
RETURNS TABLE (
    outcome text, order_id text, queue text, member text, admission_id text, key_hash text,
    keep_place boolean)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
    INSERT INTO claim_outcome (claim_id, outcome) VALUES (p_claim, 'released')
        ON CONFLICT (claim_id) DO NOTHING;
    RETURN QUERY SELECT c.outcome, o.id, o.queue, o.member, o.admission_id, o.key_hash, o.place_held
      FROM claim_outcome c LEFT JOIN customer_order o ON o.id = c.order_id
     WHERE c.claim_id = p_claim;
END $$;

-- Puts back what these orders took. The caller has locked them and marks them in the same transaction.
-- In the order of SKUs, like place_order(): nobody waits in a circle.
-- Returns true where something came back that was all gone.
CREATE FUNCTION give_stock_back(p_orders text[]) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_item record;
    v_left bigint;
    v_queue text;
    v_queues text[] := '{}';
BEGIN
    FOR v_item IN
        SELECT i.sku, sum(i.quantity)::bigint AS quantity
          FROM order_item i WHERE i.order_id = ANY (p_orders) GROUP BY i.sku ORDER BY i.sku
    LOOP
        UPDATE product p SET available = p.available + v_item.quantity WHERE p.sku = v_item.sku
        RETURNING p.available, p.queue INTO v_left, v_queue;
        IF v_left = v_item.quantity AND v_queue <> ALL (v_queues) THEN
            v_queues := v_queues || v_queue;
        END IF;
    END LOOP;
    INSERT INTO outbox (queue, kind) SELECT q, 'sold_out' FROM unnest(v_queues) AS q;
    RETURN v_queues <> '{}';
END $$;

-- Cancels a member's own unpaid order; one that is canceled already stays as it is.
-- Returns no row where the member has no such order; else the order as it is now, whether it held its
-- place until now, and whether something came back that was all gone.
CREATE FUNCTION cancel_order(p_member text, p_order text)
RETURNS TABLE (
    id text, queue text, status text, total_amount bigint, currency text, created_us bigint,
    expires_us bigint, items text, place_held boolean, came_back boolean)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    v_order customer_order%ROWTYPE;
    v_came_back boolean := false;
BEGIN
    SELECT * INTO v_order FROM customer_order o
     WHERE o.id = p_order AND o.member = p_member FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    ELSIF v_order.status = 'PENDING_PAYMENT' THEN
        UPDATE customer_order o
           SET status = 'CANCELED', stock_returned_at = now(), place_held = false
         WHERE o.id = p_order;
        IF v_order.place_held THEN
            INSERT INTO outbox (queue, kind, member, order_id)
                VALUES (v_order.queue, 'free_place', p_member, p_order);
        END IF;
        v_came_back := give_stock_back(ARRAY[p_order]);
    ELSIF v_order.status <> 'CANCELED' THEN
        RAISE EXCEPTION 'NOT_CANCELABLE' USING ERRCODE = 'SL010', DETAIL = v_order.status;
    END IF;
    RETURN QUERY SELECT o.id, o.queue, o.status, o.total_amount, o.currency, o.created_us,
        o.expires_us, o.items, v_order.place_held, v_came_back
      FROM order_view o WHERE o.id = p_order;
END $$;

-- Ends unpaid orders whose time is over, at most p_limit. Orders that somebody else has locked are left
-- for the next time. Returns those that it ended, and whether each held its place until now.
CREATE FUNCTION expire_orders(p_limit bigint)
RETURNS TABLE (id text, queue text, member text, place_held boolean)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    v_orders text[];
    v_held text[];
BEGIN
    SELECT array_agg(due.id), array_agg(due.id) FILTER (WHERE due.place_held)
      INTO v_orders, v_held
      FROM (SELECT o.id, o.place_held FROM customer_order o
             WHERE o.status = 'PENDING_PAYMENT' AND o.expires_at <= now()
             ORDER BY o.expires_at LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED) AS due;
    IF v_orders IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO outbox (queue, kind, member, order_id)
        SELECT o.queue, 'free_place', o.member, o.id
          FROM customer_order o WHERE o.id = ANY (v_held);
    UPDATE customer_order o
       SET status = 'EXPIRED', stock_returned_at = now(), place_held = false
     WHERE o.id = ANY (v_orders);
    PERFORM give_stock_back(v_orders);
    RETURN QUERY SELECT o.id, o.queue, o.member, o.id = ANY (COALESCE(v_held, '{}'))
      FROM customer_order o WHERE o.id = ANY (v_orders);
END $$;
