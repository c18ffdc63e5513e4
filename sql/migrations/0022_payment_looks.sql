-- 0022_payment_looks: a look-up counts for the payment that was looked up.
-- Purpose   "not paid" of a look-up that is older than the member's return changes nothing any more; news of a READY payment that
--           arrives during a look-up leads to another one at once
-- Locks     none
-- Undo      a new migration that restores payment_unpaid(text, text, boolean, boolean, text) of 0013_payments.sql and drops the other

CREATE FUNCTION payment_unpaid(
    p_payment text, p_approvals integer, p_state text, p_final boolean, p_give_back boolean, p_why text)
RETURNS payment_result
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_payment payment := payment_lock(p_payment);
    v_end record;
    v_last_look timestamptz;
BEGIN
    IF v_payment.approvals <> p_approvals THEN
        RETURN payment_answer('stale', p_payment, false, false);
    ELSIF v_payment.state IN ('FAILED', 'EXPIRED', 'STOPPED') THEN
        UPDATE payment p
           SET retry_at = CASE WHEN p.has_news THEN now() WHEN NOT p_final THEN p.final_at END, attempts = 0,
               needs_person = false, last_error = '', updated_at = now()
         WHERE p.id = p_payment AND p.retry_at IS NOT NULL;
        RETURN payment_answer('same', p_payment, false, false);
    ELSIF v_payment.state NOT IN ('READY', 'APPROVING', 'UNKNOWN') THEN
        RETURN payment_answer('stale', p_payment, false, false);
    ELSIF p_state = 'EXPIRED' AND NOT p_final THEN
        IF v_payment.state = 'APPROVING' THEN
            PERFORM payment_move(p_payment, 'UNKNOWN', p_why, now());
        END IF;
        UPDATE payment p
           SET retry_at = CASE WHEN p.has_news THEN now() WHEN p.state = 'READY' THEN p.final_at
                   ELSE least(greatest(p.final_at, now() + interval '1 second'), now() + interval '30 seconds') END,
               attempts = 0, needs_person = false, last_error = '', updated_at = now()
         WHERE p.id = p_payment;
        RETURN payment_answer('early', p_payment, false, false);
    END IF;
    IF v_payment.approvals > 0 THEN
        v_last_look := greatest(v_payment.final_at,
            now() + (v_payment.final_at - v_payment.session_ends_at));
    END IF;
    PERFORM payment_move(p_payment, p_state, p_why, v_last_look);
    SELECT * INTO v_end FROM order_after_unpaid(v_payment.order_id, p_give_back,
        CASE p_state WHEN 'EXPIRED' THEN 'EXPIRED' ELSE 'PAYMENT_FAILED' END);
    RETURN payment_answer('done', p_payment, v_end.place_freed, v_end.came_back);
END $$;
COMMENT ON FUNCTION payment_unpaid(text, integer, text, boolean, boolean, text) IS
    'The provider says that nothing was taken: p_state FAILED (over there), or EXPIRED (still open there, or its time is over). '
    'p_approvals: how often the payment had been APPROVING when the provider was asked; after another approval the report says '
    'nothing about it. p_final: it was asked after final_at, or it has said so in answer to an approval; before that EXPIRED is no '
    'end. What was ever APPROVING is asked once more, after final_at and a grace. Outcome: done, same; early: to be asked again, '
    'and it is known when; stale: nothing was written.';

-- As the release before this one calls it.
CREATE OR REPLACE FUNCTION payment_unpaid(
    p_payment text, p_state text, p_final boolean, p_give_back boolean, p_why text)
RETURNS payment_result
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT payment_unpaid(p_payment, NULL, p_state, p_final, p_give_back, p_why)
$$;
