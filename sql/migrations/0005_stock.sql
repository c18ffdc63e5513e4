-- 0005_stock: what is sold, and whether anything is left.
-- Purpose   put_product(), availability()
-- Locks     none
-- Undo      a new migration that drops them
--
-- SL009 there is no such queue
-- SL011 less than was sold already (DETAIL: how many were)
-- SL012 sold already, so it stays with its queue (DETAIL: that queue)

-- Creates a product or replaces what is said of it. p_stock is all there is, sold and unsold, so what is
-- left changes by the difference.
-- Returns one row: the product, and whether it is new.
CREATE FUNCTION put_product(
    p_sku text, p_name text, p_amount bigint, p_currency text, p_stock bigint, p_queue text)
RETURNS TABLE (
    sku text, name text, price_amount bigint, currency text, stock bigint, available bigint,
    queue text, created boolean)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    v_old product%ROWTYPE;
    v_sold bigint;
    v_created boolean;
BEGIN
    PERFORM FROM queue q WHERE q.id = p_queue AND q.deleted_at IS NULL FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'QUEUE_GONE' USING ERRCODE = 'SL009';
    END IF;

    INSERT INTO product (sku, name, price_amount, currency, stock, available, queue)
        VALUES (p_sku, p_name, p_amount, p_currency, p_stock, p_stock, p_queue)
        ON CONFLICT (sku) DO NOTHING;
    v_created := FOUND;
    IF NOT v_created THEN
        SELECT * INTO v_old FROM product p WHERE p.sku = p_sku FOR NO KEY UPDATE;
        v_sold := v_old.stock - v_old.available;
        IF p_stock < v_sold THEN
            RAISE EXCEPTION 'STOCK_BELOW_SOLD' USING ERRCODE = 'SL011', DETAIL = v_sold;
        ELSIF v_old.queue <> p_queue AND v_sold > 0 THEN
            RAISE EXCEPTION 'QUEUE_FIXED' USING ERRCODE = 'SL012', DETAIL = v_old.queue;
        END IF;
        UPDATE product p
           SET name = p_name, price_amount = p_amount, currency = p_currency, stock = p_stock,
               available = p_stock - v_sold, queue = p_queue, updated_at = now()
         WHERE p.sku = p_sku;
    END IF;

    INSERT INTO outbox (queue, kind) VALUES (p_queue, 'sold_out');
    IF v_old.queue <> p_queue THEN
        INSERT INTO outbox (queue, kind) VALUES (v_old.queue, 'sold_out');
    END IF;
    RETURN QUERY SELECT p.sku, p.name, p.price_amount, p.currency, p.stock, p.available, p.queue,
        v_created
      FROM product p WHERE p.sku = p_sku;
END $$;

-- Looks whether anything that is sold through a queue is left, and numbers the finding. Called after a
-- commit, never within it: two orders that take the last of two products cannot see each other, but the
-- later of the two looks sees both, for the queue's row is locked before the snapshot is taken.
-- A queue is sold out when it sells something and all of it is gone. Where its setting `reopen` is false,
-- it stays so until p_reopen is true (an operator resumes it).
-- Returns one row, none for a queue that is not there.
CREATE FUNCTION availability(p_queue text, p_reopen boolean)
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
    SELECT count(*) > 0, COALESCE(bool_or(p.available > 0), false) INTO v_sells, v_left
      FROM product p WHERE p.queue = p_queue;
    v_sold_out := v_sells AND NOT v_left;
    IF v_sells AND v_left AND v_queue.sold_out AND NOT p_reopen THEN
        v_sold_out := v_queue.settings -> 'reopen' = 'false';
    END IF;
    RETURN QUERY UPDATE queue q
       SET sold_out = COALESCE(v_sold_out, false), sold_out_change = q.sold_out_change + 1
     WHERE q.id = p_queue
    RETURNING q.sold_out, q.sold_out_change;
END $$;
