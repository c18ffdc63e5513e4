-- 0022_payment_looks: a look-up counts for the payment that was looked up.
-- Purpose   "not paid" of a look-up that is older than the member's return changes nothing any more; news that arrives during a
--           look-up leads to another one, for READY too, and never to more than one a second; which ended payments may hold money
--           is recorded; one that ends without an answer of its provider is looked up once more
-- Locks     ACCESS EXCLUSIVE on payment for a moment
-- Undo      a new migration that restores payment_unpaid(text, text, boolean, boolean, text) and payment_paid() of 0013_payments.sql
--           and drops the other payment_unpaid() and payment.in_doubt

ALTER TABLE payment ADD COLUMN in_doubt boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN payment.in_doubt IS 'It ended as not paid although an approval of it had no clear answer, and no look-up after final_at '
    'has said since that nothing was taken.';

CREATE FUNCTION payment_unpaid(
    p_payment text, p_approvals integer, p_state text, p_final boolean, p_answered boolean, p_give_back boolean, p_why text)
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
           SET retry_at = CASE WHEN p.has_news THEN p.retry_at WHEN NOT p_final THEN p.final_at END, attempts = 0,
               in_doubt = p.in_doubt AND NOT (p_final AND p_answered), needs_person = false, last_error = '', updated_at = now()
         WHERE p.id = p_payment AND p.retry_at IS NOT NULL;
        RETURN payment_answer('same', p_payment, false, false);
    ELSIF v_payment.state NOT IN ('READY', 'APPROVING', 'UNKNOWN') THEN
        RETURN payment_answer('stale', p_payment, false, false);
    ELSIF p_state = 'EXPIRED' AND NOT p_final THEN
        IF v_payment.state = 'APPROVING' THEN
            PERFORM payment_move(p_payment, 'UNKNOWN', p_why, now());
        END IF;
        UPDATE payment p
           SET retry_at = CASE WHEN p.has_news THEN v_payment.retry_at WHEN p.state = 'READY' THEN p.final_at
                   ELSE least(greatest(p.final_at, now() + interval '1 second'), now() + interval '30 seconds') END,
               attempts = 0, needs_person = false, last_error = '', updated_at = now()
         WHERE p.id = p_payment;
        RETURN payment_answer('early', p_payment, false, false);
    END IF;
    IF v_payment.approvals > 0 OR NOT p_answered THEN
        v_last_look := greatest(v_payment.final_at,
            now() + (v_payment.final_at - v_payment.session_ends_at));
    END IF;
    PERFORM payment_move(p_payment, p_state, p_why, v_last_look);
    IF p_state = 'EXPIRED' AND v_payment.state IN ('APPROVING', 'UNKNOWN') THEN
        UPDATE payment p SET in_doubt = true WHERE p.id = p_payment;
    END IF;
    SELECT * INTO v_end FROM order_after_unpaid(v_payment.order_id, p_give_back,
        CASE p_state WHEN 'EXPIRED' THEN 'EXPIRED' ELSE 'PAYMENT_FAILED' END);
    RETURN payment_answer('done', p_payment, v_end.place_freed, v_end.came_back);
END $$;
COMMENT ON FUNCTION payment_unpaid(text, integer, text, boolean, boolean, boolean, text) IS
    'Nothing was taken: p_state FAILED (over at the provider), or EXPIRED (still open there, or its time is over). '
    'p_approvals: how often the payment had been APPROVING when the provider was asked; after another approval the report says '
    'nothing about it. p_final: it was asked after final_at, or it has said so in answer to an approval; before that EXPIRED is no '
    'end. p_answered: the provider says so; false: it does not answer or does not know the payment, and the caller knows that '
    'nothing was taken. What was ever APPROVING, and what ends unanswered, is asked once more, after final_at and a grace. '
    'Outcome: done, same; early: to be asked again, and it is known when; stale: nothing was written.';

-- As the release before this one calls it.
CREATE OR REPLACE FUNCTION payment_unpaid(
    p_payment text, p_state text, p_final boolean, p_give_back boolean, p_why text)
RETURNS payment_result
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT payment_unpaid(p_payment, NULL, p_state, p_final, true, p_give_back, p_why)
$$;

-- As in 0013_payments.sql, and news that came during the look-up keeps the moment that payment_hint() gave it.
CREATE OR REPLACE FUNCTION payment_paid(
    p_payment text, p_ref text, p_amount bigint, p_currency text, p_canceled bigint, p_why text)
RETURNS payment_result
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_payment payment := payment_lock(p_payment);
    v_order customer_order%ROWTYPE;
    v_outcome text;
BEGIN
    SELECT * INTO v_order FROM customer_order o WHERE o.id = v_payment.order_id;
    IF v_payment.provider_ref IS DISTINCT FROM p_ref OR v_payment.amount <> p_amount
       OR v_payment.currency <> p_currency THEN
        IF v_payment.state = 'APPROVING' THEN
            PERFORM payment_move(p_payment, 'UNKNOWN', p_why, now() + interval '1 minute');
        END IF;
        UPDATE payment p
           SET needs_person = true, updated_at = now(),
               last_error = format('the provider says %s %s of %s', p_amount, p_currency, p_ref)
         WHERE p.id = p_payment;
        RETURN payment_answer('mismatch', p_payment, false, false);
    END IF;
    UPDATE payment p SET canceled_amount = p_canceled
     WHERE p.id = p_payment AND p.canceled_amount < p_canceled;
    IF v_payment.state IN ('READY', 'APPROVING', 'UNKNOWN') AND v_order.status = 'PENDING_PAYMENT' THEN
        PERFORM payment_move(p_payment, 'PAID', p_why, NULL);
        UPDATE customer_order o SET status = 'PAID', expires_at = NULL, place_held = false
         WHERE o.id = v_order.id;
        IF v_order.place_held THEN
            INSERT INTO outbox (queue, kind, member, order_id)
                VALUES (v_order.queue, 'free_place', v_order.member, v_order.id);
        END IF;
        RETURN payment_answer('done', p_payment, v_order.place_held, false);
    ELSIF v_payment.state IN ('READY', 'APPROVING', 'UNKNOWN', 'FAILED', 'EXPIRED', 'STOPPED') THEN
        PERFORM payment_move(p_payment, 'CANCEL_REQUESTED', p_why || '; it or its order had ended', now());
        v_outcome := 'refund';
    ELSIF v_payment.state = 'CANCEL_REQUESTED' THEN
        v_outcome := 'refund';
    ELSE
        UPDATE payment p
           SET retry_at = CASE WHEN p.has_news AND p.state <> 'CANCELED' THEN p.retry_at END, attempts = 0
         WHERE p.id = p_payment AND p.retry_at IS NOT NULL;
        v_outcome := 'same';
    END IF;
    RETURN payment_answer(v_outcome, p_payment, false, false);
END $$;
