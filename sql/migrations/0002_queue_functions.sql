-- 0002_queue_functions: every change to a queue, each one call with its row of the audit.
-- Purpose   operators' changes: numbered by version, so that Redis can tell an older one that arrives late
-- Locks     each function takes the queue's row lock until its transaction ends
-- Undo      a new migration that drops them

CREATE FUNCTION epoch_ms(at timestamptz) RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT floor(extract(epoch FROM at) * 1000)::bigint
$$;
COMMENT ON FUNCTION epoch_ms IS 'Milliseconds since 1970.';

CREATE VIEW queue_record AS
SELECT id, settings, operator_state, epoch, incarnation, version, seq_checkpoint, sold_out,
    sold_out_change, epoch_ms(created_at) AS created_at_ms, epoch_ms(updated_at) AS updated_at_ms,
    deleted_at IS NOT NULL AS deleted, epoch_ms(clock_timestamp()) AS now_ms
FROM queue;
COMMENT ON VIEW queue_record IS 'A queue as the programs read it: lib/orders/queue_store.h.';

CREATE FUNCTION queue_for_audit(it queue) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN it.id IS NOT NULL THEN jsonb_build_object('settings', it.settings,
        'operatorState', it.operator_state, 'epoch', it.epoch, 'version', it.version,
        'deleted', it.deleted_at IS NOT NULL) END
$$;
COMMENT ON FUNCTION queue_for_audit IS 'What the audit keeps of a queue; NULL where there was none.';

CREATE FUNCTION queue_audit(actor text, action text, request_id text, old queue, new queue)
RETURNS void
LANGUAGE sql AS $$
    INSERT INTO audit (actor, action, target, request_id, details)
    VALUES (actor, action, 'queue/' || new.id, request_id,
        jsonb_build_object('before', queue_for_audit(old), 'after', queue_for_audit(new)))
$$;
COMMENT ON FUNCTION queue_audit IS 'Records one change, in its own transaction.';

CREATE FUNCTION queue_write(p_id text, p_version bigint, p_create boolean, p_settings jsonb,
    p_actor text, p_request_id text, OUT outcome text, OUT shown queue_record)
LANGUAGE plpgsql AS $$
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
                version = version + 1, seq_checkpoint = 0, created_at = now(), updated_at = now(),
                deleted_at = NULL
            WHERE id = p_id RETURNING * INTO new;
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
COMMENT ON FUNCTION queue_write IS
    'Stores settings, complete as they are. p_create makes the queue where there is none, and brings a '
    'deleted one back under a new epoch. p_version, where not NULL, must be the stored one. Outcome: '
    'created, changed, same, stale (nothing done), missing.';

CREATE FUNCTION queue_act(p_id text, p_action text, p_actor text, p_request_id text,
    OUT outcome text, OUT shown queue_record)
LANGUAGE plpgsql AS $$
DECLARE
    old queue;
    new queue;
    next_state text;
BEGIN
    SELECT * INTO old FROM queue WHERE id = p_id AND deleted_at IS NULL FOR UPDATE;
    IF old.id IS NULL THEN
        outcome := 'missing';
        RETURN;
    END IF;
    -- Sold out by an operator's word is undone by resume only.
    next_state := CASE
        WHEN p_action = 'resume' THEN 'OPEN'
        WHEN p_action = 'sold-out' THEN 'SOLD_OUT'
        WHEN old.operator_state = 'SOLD_OUT' THEN 'SOLD_OUT'
        WHEN p_action = 'pause' THEN 'PAUSED'
        WHEN p_action = 'drain' THEN 'DRAINING'
        ELSE old.operator_state
    END;
    IF p_action = 'reset' OR next_state <> old.operator_state THEN
        outcome := 'changed';
        UPDATE queue SET operator_state = next_state, version = version + 1, updated_at = now(),
            epoch = epoch + (p_action = 'reset')::integer,
            seq_checkpoint = CASE p_action WHEN 'reset' THEN 0 ELSE seq_checkpoint END
        WHERE id = p_id RETURNING * INTO new;
        PERFORM queue_audit(p_actor, p_action, p_request_id, old, new);
    ELSE
        outcome := 'same';
    END IF;
    SELECT * INTO shown FROM queue_record WHERE id = p_id;
END $$;
COMMENT ON FUNCTION queue_act IS
    'pause, resume, drain, sold-out, reset. Outcome: changed, same, missing.';

CREATE FUNCTION queue_delete(p_id text, p_actor text, p_request_id text,
    OUT outcome text, OUT shown queue_record)
LANGUAGE plpgsql AS $$
DECLARE
    old queue;
    new queue;
BEGIN
    SELECT * INTO old FROM queue WHERE id = p_id AND deleted_at IS NULL FOR UPDATE;
    IF old.id IS NULL THEN
        outcome := 'missing';
        RETURN;
    END IF;
    outcome := 'changed';
    UPDATE queue SET deleted_at = now(), updated_at = now(), version = version + 1
    WHERE id = p_id RETURNING * INTO new;
    PERFORM queue_audit(p_actor, 'delete', p_request_id, old, new);
    SELECT * INTO shown FROM queue_record WHERE id = p_id;
END $$;
COMMENT ON FUNCTION queue_delete IS
    'Marks the end of a queue: its row stays, for its orders and its numbers. Outcome: changed, missing.';

CREATE FUNCTION product_for_audit(it product) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('name', it.name, 'price', jsonb_build_object('amount', it.price_amount,
        'currency', it.currency), 'stock', it.stock, 'available', it.available, 'queue', it.queue)
$$;
COMMENT ON FUNCTION product_for_audit IS 'What the audit keeps of a product.';

CREATE FUNCTION product_audit() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    before jsonb := CASE TG_OP WHEN 'UPDATE' THEN product_for_audit(OLD) END;
    after jsonb := product_for_audit(NEW);
BEGIN
    IF before IS DISTINCT FROM after THEN
        INSERT INTO audit (actor, action, target, request_id, details)
        VALUES (COALESCE(NULLIF(current_setting('sluice.actor', true), ''), session_user),
            CASE TG_OP WHEN 'INSERT' THEN 'create' ELSE 'change' END, 'product/' || NEW.sku,
            COALESCE(current_setting('sluice.request_id', true), ''),
            jsonb_build_object('before', before, 'after', after));
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION product_audit IS
    'Records a change of a product, in its own transaction. Who makes it is told by the setting '
    'sluice.actor of the connection; without it, whoever is logged in to the database.';

-- An order changes `available` alone: it never fires.
CREATE TRIGGER product_audit_trigger
    AFTER INSERT OR UPDATE OF name, price_amount, currency, stock, queue ON product
    FOR EACH ROW EXECUTE FUNCTION product_audit();
