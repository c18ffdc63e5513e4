-- 0021_queue_versions: a queue is deleted on the version that was looked at.
-- Purpose   Redis locks an empty queue on one version of its settings (lua/queue_lock.lua); the deletion happens on that version,
--           or not at all. Also: comments that name files that have moved
-- Locks     SHARE UPDATE EXCLUSIVE on the tables whose comments change
-- Undo      DROP FUNCTION queue_delete(text, bigint, text, text)

CREATE FUNCTION queue_delete(p_id text, p_version bigint, p_actor text, p_request_id text,
    OUT outcome text, OUT shown queue_record)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    old queue;
    new queue;
BEGIN
    SELECT * INTO old FROM queue WHERE id = p_id AND deleted_at IS NULL FOR UPDATE;
    IF old.id IS NULL THEN
        outcome := 'missing';
        RETURN;
    ELSIF old.version <> p_version THEN
        outcome := 'stale';
    ELSE
        outcome := 'changed';
        UPDATE queue SET deleted_at = now(), updated_at = now(), version = version + 1
        WHERE id = p_id RETURNING * INTO new;
        PERFORM queue_audit(p_actor, 'delete', p_request_id, old, new);
    END IF;
    SELECT * INTO shown FROM queue_record WHERE id = p_id;
END $$;
COMMENT ON FUNCTION queue_delete(text, bigint, text, text) IS
    'Marks the end of a queue: its row stays, for its orders and its numbers. p_version, where not NULL, must be the '
    'stored one. Outcome: changed, stale (nothing done), missing.';

COMMENT ON VIEW queue_record IS 'A queue as the programs read it: lib/orders/queues/queue_store.h.';
COMMENT ON TABLE payment_state IS 'lib/orders/payments/payment_states.tbl, which says what they mean.';
COMMENT ON TABLE payment_transition IS
    'lib/orders/payments/payment_states.tbl, which says by what. Any other change is refused by payment_follow_state().';
