-- 0013_payments: payments, their state machine, and how orders end that have one.
-- Purpose   one open payment an order; every step a compare-and-set; money and goods end together
-- Locks     ACCESS EXCLUSIVE on customer_order for one pass over it, on product for a moment
-- Undo      a new migration that drops them and restores cancel_order() and expire_orders()
--
-- The order of locks, everywhere: the order's row, then its payment's, then the goods (give_stock_back()).
-- The provider is never called in here. Each function compares the state that it finds with the one it
-- expects, so whoever wakes up late changes nothing: a late "paid" of a payment that has ended becomes a
-- refund.
--
-- SL010 the order cannot be canceled (DETAIL: its status)
-- SL040 a payment of the order is being approved, or nobody knows whether it was
-- SL041 a payment does not go from one of these states to the other (a defect)

CREATE TABLE payment_state (
    name           text COLLATE "C" NOT NULL,
    is_open        boolean NOT NULL,
    may_hold_money boolean NOT NULL,
    CONSTRAINT payment_state_pkey PRIMARY KEY (name)
);
COMMENT ON TABLE payment_state IS 'lib/orders/payment_states.tbl, which says what they mean.';
INSERT INTO payment_state (name, is_open, may_hold_money) VALUES
    ('STARTING', true, false),
    ('READY', true, false),
    ('APPROVING', true, true),
    ('UNKNOWN', true, true),
    ('PAID', false, true),
    ('FAILED', false, false),
    ('EXPIRED', false, false),
    ('STOPPED', false, false),
    ('CANCEL_REQUESTED', false, true),
    ('CANCELED', false, false);

CREATE TABLE payment_transition (
    from_state text COLLATE "C" NOT NULL,
    to_state   text COLLATE "C" NOT NULL,
    CONSTRAINT payment_transition_pkey PRIMARY KEY (from_state, to_state),
    CONSTRAINT payment_transition_from_fkey FOREIGN KEY (from_state) REFERENCES payment_state (name),
    CONSTRAINT payment_transition_to_fkey FOREIGN KEY (to_state) REFERENCES payment_state (name)
);
COMMENT ON TABLE payment_transition IS 'lib/orders/payment_states.tbl, which says by what. Any other change is refused by payment_follow_state().';
INSERT INTO payment_transition (from_state, to_state) VALUES
    ('STARTING', 'READY'),
    ('STARTING', 'FAILED'),
    ('READY', 'APPROVING'),
    ('READY', 'STOPPED'),
    ('READY', 'FAILED'),
    ('READY', 'EXPIRED'),
    ('READY', 'PAID'),
    ('READY', 'CANCEL_REQUESTED'),
    ('APPROVING', 'READY'),
    ('APPROVING', 'PAID'),
    ('APPROVING', 'FAILED'),
    ('APPROVING', 'EXPIRED'),
    ('APPROVING', 'UNKNOWN'),
    ('APPROVING', 'CANCEL_REQUESTED'),
    ('UNKNOWN', 'PAID'),
    ('UNKNOWN', 'FAILED'),
    ('UNKNOWN', 'EXPIRED'),
    ('UNKNOWN', 'CANCEL_REQUESTED'),
    ('PAID', 'CANCEL_REQUESTED'),
    ('CANCEL_REQUESTED', 'CANCELED'),
    ('CANCEL_REQUESTED', 'PAID'),
    ('FAILED', 'CANCEL_REQUESTED'),
    ('EXPIRED', 'CANCEL_REQUESTED'),
    ('STOPPED', 'CANCEL_REQUESTED');

CREATE TABLE payment (
    id              text COLLATE "C" NOT NULL,
    order_id        text COLLATE "C" NOT NULL,
    provider        text COLLATE "C" NOT NULL,
    state           text COLLATE "C" NOT NULL DEFAULT 'STARTING',
    why             text NOT NULL DEFAULT '',
    return_hash     text COLLATE "C" NOT NULL,
    provider_ref    text COLLATE "C",
    redirect_url    text,
    amount          bigint NOT NULL,
    tax_free        bigint NOT NULL,
    vat             bigint NOT NULL,
    currency        text COLLATE "C" NOT NULL,
    canceled_amount bigint NOT NULL DEFAULT 0,
    session_ends_at timestamptz,
    final_at        timestamptz,
    approvals       integer NOT NULL DEFAULT 0,
    pays            boolean NOT NULL DEFAULT false,
    attempts        integer NOT NULL DEFAULT 0,
    retry_at        timestamptz,
    hinted_at       timestamptz,
    has_news        boolean NOT NULL DEFAULT false,
    needs_person    boolean NOT NULL DEFAULT false,
    last_error      text NOT NULL DEFAULT '',
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT payment_pkey PRIMARY KEY (id),
    CONSTRAINT payment_order_id_fkey FOREIGN KEY (order_id) REFERENCES customer_order (id),
    CONSTRAINT payment_id_check CHECK (id ~ '^p_[A-Za-z0-9_-]{22}$'),
    CONSTRAINT payment_return_hash_check CHECK (return_hash ~ '^[A-Za-z0-9_-]{43}$'),
    CONSTRAINT payment_ref_check CHECK (provider_ref ~ '^[!-~]{1,200}$'),
    CONSTRAINT payment_redirect_url_check CHECK (char_length(redirect_url) BETWEEN 1 AND 2048),
    CONSTRAINT payment_money_check CHECK (amount BETWEEN 1 AND 9007199254740991
        AND tax_free BETWEEN 0 AND amount AND vat BETWEEN 0 AND amount
        AND canceled_amount BETWEEN 0 AND amount),
    CONSTRAINT payment_session_check CHECK (state IN ('STARTING', 'FAILED')
        OR num_nulls(provider_ref, redirect_url, session_ends_at, final_at) = 0),
    CONSTRAINT payment_pays_check CHECK (CASE WHEN pays
        THEN state IN ('PAID', 'CANCEL_REQUESTED', 'CANCELED') ELSE state <> 'PAID' END),
    CONSTRAINT payment_numbers_check CHECK (approvals >= 0 AND attempts >= 0)
) WITH (fillfactor = 70);
COMMENT ON TABLE payment IS 'One attempt to pay an order. Its id is what the provider knows the order by: each attempt has a name of its own there.';
COMMENT ON COLUMN payment.why IS 'What the last change of state came from; payment_event keeps all of them.';
COMMENT ON COLUMN payment.return_hash IS 'SHA-256 of the state in the return URLs, which is kept nowhere.';
COMMENT ON COLUMN payment.provider_ref IS 'What the provider calls it (tid, paymentKey).';
COMMENT ON COLUMN payment.final_at IS 'Session''s end and a grace: "not paid" counts from then on, not before.';
COMMENT ON COLUMN payment.approvals IS 'How often it went to APPROVING: each way back says which time it means.';
COMMENT ON COLUMN payment.pays IS 'The order has its goods for this payment, or had until it was canceled.';
COMMENT ON COLUMN payment.retry_at IS 'When reconcile looks at it next; NULL: it is settled.';
COMMENT ON COLUMN payment.attempts IS 'Looks since the last change of state that brought nothing.';
COMMENT ON COLUMN payment.hinted_at IS 'Which second''s look a webhook has asked for last.';
COMMENT ON COLUMN payment.has_news IS 'Somebody said so since it was last taken to be looked at: what is known of it may be old.';
CREATE UNIQUE INDEX payment_open_key ON payment (order_id)
    WHERE state IN ('STARTING', 'READY', 'APPROVING', 'UNKNOWN');
COMMENT ON INDEX payment_open_key IS 'One open payment an order. Serves whoever wants to end the order.';
CREATE UNIQUE INDEX payment_paid_key ON payment (order_id) WHERE pays AND state <> 'CANCELED';
COMMENT ON INDEX payment_paid_key IS 'No order is paid twice.';
CREATE UNIQUE INDEX payment_ref_key ON payment (provider, provider_ref);
COMMENT ON INDEX payment_ref_key IS 'Serves payment_hint().';
CREATE INDEX payment_order_idx ON payment (order_id, created_at);
COMMENT ON INDEX payment_order_idx IS 'Serves payment_returns.sql: the payments of an order.';
CREATE INDEX payment_due_idx ON payment (retry_at) WHERE retry_at IS NOT NULL;
COMMENT ON INDEX payment_due_idx IS 'Serves payments_due().';
CREATE INDEX payment_person_idx ON payment (created_at, id) WHERE needs_person;
COMMENT ON INDEX payment_person_idx IS 'Serves payments_page.sql: what needs a person.';
CREATE INDEX payment_created_idx ON payment (created_at, id);
COMMENT ON INDEX payment_created_idx IS 'Serves payments_page.sql: all of them.';
CREATE INDEX payment_state_idx ON payment (state, created_at, id);
COMMENT ON INDEX payment_state_idx IS 'Serves payments_page.sql: those in one state.';

CREATE TABLE payment_event (
    id         bigint GENERATED ALWAYS AS IDENTITY,
    payment_id text COLLATE "C" NOT NULL,
    from_state text COLLATE "C",
    to_state   text COLLATE "C" NOT NULL,
    why        text NOT NULL,
    at         timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT payment_event_pkey PRIMARY KEY (id),
    CONSTRAINT payment_event_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payment (id)
);
COMMENT ON TABLE payment_event IS 'Every change of a payment''s state. Append only.';
COMMENT ON COLUMN payment_event.from_state IS 'NULL: its beginning.';
CREATE INDEX payment_event_payment_idx ON payment_event (payment_id, id);
COMMENT ON INDEX payment_event_payment_idx IS 'Serves support: the life of one payment.';

CREATE FUNCTION payment_event_is_append_only() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the events of payments are append only' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER payment_event_append_only_trigger BEFORE UPDATE OR DELETE OR TRUNCATE ON payment_event
    FOR EACH STATEMENT EXECUTE FUNCTION payment_event_is_append_only();

CREATE FUNCTION payment_follow_state() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.state <> 'STARTING' THEN
            RAISE EXCEPTION 'a payment begins as STARTING' USING ERRCODE = 'SL041';
        END IF;
        INSERT INTO payment_event (payment_id, to_state, why) VALUES (NEW.id, NEW.state, NEW.why);
    ELSIF NEW.state <> OLD.state THEN
        PERFORM FROM payment_transition t
          WHERE t.from_state = OLD.state AND t.to_state = NEW.state;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'a payment does not go from % to %', OLD.state, NEW.state
                USING ERRCODE = 'SL041';
        END IF;
        INSERT INTO payment_event (payment_id, from_state, to_state, why)
            VALUES (NEW.id, OLD.state, NEW.state, NEW.why);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER payment_state_trigger AFTER INSERT OR UPDATE OF state ON payment
    FOR EACH ROW EXECUTE FUNCTION payment_follow_state();

ALTER TABLE customer_order ADD COLUMN pay_until timestamptz;
COMMENT ON COLUMN customer_order.pay_until IS 'Set by the first payment: what expires_at was before it was raised. No payment begins later.';
ALTER TABLE customer_order DROP CONSTRAINT customer_order_returned_check;
ALTER TABLE customer_order ADD CONSTRAINT customer_order_returned_check
    CHECK ((status IN ('EXPIRED', 'CANCELED', 'PAYMENT_FAILED')) = (stock_returned_at IS NOT NULL));

ALTER TABLE product ADD COLUMN tax_free boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN product.tax_free IS 'Its price contains no VAT.';

CREATE OR REPLACE FUNCTION product_for_audit(it product) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('name', it.name, 'price', jsonb_build_object('amount', it.price_amount,
        'currency', it.currency), 'taxFree', it.tax_free, 'stock', it.stock, 'available', it.available,
        'queue', it.queue)
$$;

-- As the put_product() without p_tax_free, which the release before this one calls, and in its transaction
-- whether the price contains VAT.
CREATE FUNCTION put_product(
    p_sku text, p_name text, p_amount bigint, p_currency text, p_stock bigint, p_queue text,
    p_tax_free boolean)
RETURNS TABLE (
    sku text, name text, price_amount bigint, currency text, stock bigint, available bigint,
    queue text, created boolean, tax_free boolean)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT f.sku, f.name, f.price_amount, f.currency, f.stock, f.available, f.queue,
        f.created, p_tax_free
      FROM put_product(p_sku, p_name, p_amount, p_currency, p_stock, p_queue) AS f;
    UPDATE product p SET tax_free = p_tax_free WHERE p.sku = p_sku AND p.tax_free <> p_tax_free;
END $$;
DROP TRIGGER product_audit_trigger ON product;
CREATE TRIGGER product_audit_trigger
    AFTER INSERT OR UPDATE OF name, price_amount, currency, tax_free, stock, queue ON product
    FOR EACH ROW EXECUTE FUNCTION product_audit();

-- What a provider shows of an order.
CREATE FUNCTION order_title(p_order text) RETURNS TABLE (title text, quantity bigint)
LANGUAGE sql STABLE AS $$
    SELECT COALESCE(min(i.name) FILTER (WHERE i.n = 1), p_order)
               || CASE WHEN count(*) > 1 THEN ' +' || count(*) - 1 ELSE '' END,
           COALESCE(sum(i.quantity), 1)::bigint
      FROM (SELECT p.name, o.quantity::bigint, row_number() OVER (ORDER BY o.sku) AS n
              FROM order_item o LEFT JOIN product p ON p.sku = o.sku
             WHERE o.order_id = p_order
            UNION ALL
            SELECT min(c.title), count(*), 1
              FROM order_seat o
              JOIN show s ON s.id = o.show
              JOIN concert c ON c.id = s.concert
             WHERE o.order_id = p_order
            HAVING count(*) > 0) AS i
$$;

-- What most functions here answer. outcome: 'done', or 'same': it was so before; 'stale': its state is
-- another one, nothing was written; others are said where they come from. order_status is the order's
-- now. place_freed and came_back: what Redis has to hear of it (the outbox has it too).
CREATE TYPE payment_result AS (
    outcome text, state text, order_id text, order_status text, queue text, member text,
    place_freed boolean, came_back boolean, session_ends_us bigint);

-- Locks a payment, its order before it. NULLs where there is none.
CREATE FUNCTION payment_lock(p_payment text) RETURNS payment
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_payment payment%ROWTYPE;
BEGIN
    PERFORM FROM customer_order o
      WHERE o.id = (SELECT p.order_id FROM payment p WHERE p.id = p_payment) FOR NO KEY UPDATE;
    SELECT * INTO v_payment FROM payment p WHERE p.id = p_payment FOR NO KEY UPDATE;
    RETURN v_payment;
END $$;

-- p_retry_at NULL: it is settled, unless there is news of it that nobody has looked at.
CREATE FUNCTION payment_move(
    p_payment text, p_state text, p_why text, p_retry_at timestamptz) RETURNS void
LANGUAGE sql VOLATILE AS $$
    UPDATE payment
       SET state = p_state, why = p_why, attempts = 0, needs_person = false,
           retry_at = CASE WHEN p_retry_at IS NULL AND has_news AND p_state <> 'CANCELED' THEN now()
               ELSE p_retry_at END,
           last_error = '', pays = pays OR p_state = 'PAID', updated_at = now()
     WHERE id = p_payment
$$;

-- Ends an order, which the caller has locked and whose goods are not back yet: they go back here.
CREATE FUNCTION order_end(
    p_order text, p_status text, OUT place_freed boolean, OUT came_back boolean)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_order customer_order%ROWTYPE;
BEGIN
    SELECT * INTO v_order FROM customer_order o WHERE o.id = p_order;
    UPDATE customer_order o
       SET status = p_status, stock_returned_at = now(), place_held = false
     WHERE o.id = p_order;
    place_freed := v_order.place_held;
    IF place_freed THEN
        INSERT INTO outbox (queue, kind, member, order_id)
            VALUES (v_order.queue, 'free_place', v_order.member, p_order);
    END IF;
    came_back := give_stock_back(ARRAY[p_order]);
END $$;

-- The answer of a function: the payment and its order as they are now.
CREATE FUNCTION payment_answer(
    p_outcome text, p_payment text, p_place_freed boolean, p_came_back boolean)
RETURNS payment_result
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_result payment_result;
BEGIN
    SELECT p_outcome, p.state, o.id, o.status, o.queue, o.member,
           COALESCE(p_place_freed, false), COALESCE(p_came_back, false),
           (extract(epoch FROM p.session_ends_at) * 1000000)::bigint
      INTO v_result
      FROM payment p JOIN customer_order o ON o.id = p.order_id
     WHERE p.id = p_payment;
    IF NOT FOUND THEN
        v_result.outcome := 'none';
    END IF;
    RETURN v_result;
END $$;

-- Begins to pay a member's own order. p_wait_seconds: how long a call of the provider and what belongs to
-- it may take.
-- Returns no row where the member has no such order; else the outcome:
--   'opened'       payment p_payment is STARTING; the provider is to be asked next
--   'same'         one that is READY lives: its redirect_url and session
--   'in_progress'  a twin is starting one, or one is being confirmed, or one's session has just ended
--   'not_payable'  the order is not unpaid (any more), the time to pay is over, or it had 100 payments
CREATE FUNCTION payment_open(
    p_member text, p_order text, p_payment text, p_provider text, p_return_hash text,
    p_wait_seconds bigint)
RETURNS TABLE (
    outcome text, order_status text, payment_id text, redirect_url text, session_ends_us bigint,
    amount bigint, tax_free bigint, vat bigint, currency text, title text, quantity bigint)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    v_order customer_order%ROWTYPE;
    v_payment payment%ROWTYPE;
    v_outcome text;
    v_tax_free bigint;
BEGIN
    SELECT * INTO v_order FROM customer_order o
     WHERE o.id = p_order AND o.member = p_member FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT * INTO v_payment FROM payment p
     WHERE p.order_id = p_order AND p.state IN ('STARTING', 'READY', 'APPROVING', 'UNKNOWN')
       FOR NO KEY UPDATE;
    IF v_payment.state = 'STARTING'
       AND v_payment.created_at <= now() - make_interval(secs => p_wait_seconds) THEN
        PERFORM payment_move(v_payment.id, 'FAILED', 'who started it is gone', NULL);
        v_payment := NULL;
    ELSIF v_payment.state = 'READY' AND v_payment.provider <> p_provider THEN
        PERFORM payment_move(v_payment.id, 'STOPPED', 'another provider is asked from now on',
            CASE WHEN v_payment.approvals > 0 THEN v_payment.final_at END);
        v_payment := NULL;
    END IF;
    IF v_order.status <> 'PENDING_PAYMENT' THEN
        v_outcome := 'not_payable';
    ELSIF v_payment.state = 'READY' AND v_payment.session_ends_at > now() THEN
        v_outcome := 'same';
    ELSIF v_payment.id IS NOT NULL THEN
        v_outcome := 'in_progress';
    ELSIF COALESCE(v_order.pay_until, v_order.expires_at) <= now()
       OR (SELECT count(*) FROM payment p WHERE p.order_id = p_order) >= 100 THEN
        v_outcome := 'not_payable';
    ELSE
        v_outcome := 'opened';
        SELECT COALESCE(sum(i.quantity * i.unit_price), 0) INTO v_tax_free
          FROM order_item i JOIN product p ON p.sku = i.sku AND p.tax_free
         WHERE i.order_id = p_order;
        INSERT INTO payment (id, order_id, provider, why, return_hash, amount, tax_free, vat,
                currency, retry_at)
            VALUES (p_payment, p_order, p_provider, 'the member pays', p_return_hash,
                v_order.total_amount, v_tax_free, round((v_order.total_amount - v_tax_free) / 11.0),
                v_order.currency, now() + make_interval(secs => p_wait_seconds));
        SELECT * INTO v_payment FROM payment p WHERE p.id = p_payment;
    END IF;
    RETURN QUERY SELECT v_outcome, v_order.status, v_payment.id,
        CASE v_outcome WHEN 'same' THEN v_payment.redirect_url END,
        (extract(epoch FROM v_payment.session_ends_at) * 1000000)::bigint,
        v_payment.amount, v_payment.tax_free, v_payment.vat, v_payment.currency, t.title, t.quantity
      FROM order_title(p_order) t;
END $$;

-- The provider has a session for a payment. From now on the order lives at least as long as the session
-- and the grace. 'done' or 'same'; 'ended': the order has, and the payment with it; 'stale'.
CREATE FUNCTION payment_ready(
    p_payment text, p_ref text, p_redirect_url text, p_session_seconds bigint, p_grace_seconds bigint)
RETURNS payment_result
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_payment payment := payment_lock(p_payment);
    v_end timestamptz := now() + make_interval(secs => p_session_seconds);
    v_final timestamptz := now() + make_interval(secs => p_session_seconds + p_grace_seconds);
    v_outcome text := 'stale';
BEGIN
    IF v_payment.state = 'READY' AND v_payment.provider_ref = p_ref THEN
        v_outcome := 'same';
    ELSIF v_payment.state = 'STARTING' THEN
        UPDATE customer_order o
           SET pay_until = COALESCE(o.pay_until, o.expires_at),
               expires_at = greatest(o.expires_at, v_final)
         WHERE o.id = v_payment.order_id AND o.status = 'PENDING_PAYMENT';
        IF FOUND THEN
            UPDATE payment p
               SET provider_ref = p_ref, redirect_url = p_redirect_url, session_ends_at = v_end,
                   final_at = v_final
             WHERE p.id = p_payment;
            PERFORM payment_move(p_payment, 'READY', 'the provider opened a session', v_final);
            v_outcome := 'done';
        ELSE
            PERFORM payment_move(p_payment, 'FAILED', 'the order has ended', NULL);
            v_outcome := 'ended';
        END IF;
    END IF;
    RETURN payment_answer(v_outcome, p_payment, false, false);
END $$;

-- A payment could not be started: nobody has its address, so it is over. 'done', 'same' or 'stale'. The
-- order stays as it is.
CREATE FUNCTION payment_start_failed(p_payment text, p_why text) RETURNS payment_result
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_payment payment := payment_lock(p_payment);
BEGIN
    IF v_payment.state = 'STARTING' THEN
        PERFORM payment_move(p_payment, 'FAILED', p_why, NULL);
        RETURN payment_answer('done', p_payment, false, false);
    END IF;
    RETURN payment_answer(CASE v_payment.state WHEN 'FAILED' THEN 'same' ELSE 'stale' END,
        p_payment, false, false);
END $$;

-- The member came back: READY → APPROVING for one of all who try, and the order is lengthened to outlive
-- the call. Returns one row, none where there is no such payment:
--   'go'          the provider is to be told next, within p_wait_seconds; `approvals` names this time
--   'paid'        it was before, whatever became of it since: see the order
--   'confirming'  somebody is at it, or nobody knows
--   'refused'     the payment or its order has ended, the session's time is over, or it is not p_provider's
--                 whom we ask: nothing is taken
CREATE FUNCTION payment_approve_begin(p_payment text, p_provider text, p_wait_seconds bigint)
RETURNS TABLE (
    outcome text, approvals integer, ref text, amount bigint, tax_free bigint, vat bigint,
    currency text, member text, order_status text)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    v_payment payment := payment_lock(p_payment);
    v_wait interval := make_interval(secs => p_wait_seconds);
    v_outcome text;
BEGIN
    IF v_payment.state = 'READY' AND (v_payment.final_at <= now() OR v_payment.provider <> p_provider) THEN
        v_outcome := 'refused';
    ELSIF v_payment.state = 'READY' THEN
        UPDATE customer_order o SET expires_at = greatest(o.expires_at, now() + v_wait)
         WHERE o.id = v_payment.order_id AND o.status = 'PENDING_PAYMENT';
        IF FOUND THEN
            UPDATE payment p SET approvals = p.approvals + 1 WHERE p.id = p_payment;
            PERFORM payment_move(p_payment, 'APPROVING', 'the member came back', now() + v_wait);
            v_outcome := 'go';
        ELSE
            PERFORM payment_move(p_payment, 'STOPPED', 'the order has ended', NULL);
            v_outcome := 'refused';
        END IF;
    ELSIF v_payment.state IN ('APPROVING', 'UNKNOWN') THEN
        v_outcome := 'confirming';
    ELSIF v_payment.state IN ('PAID', 'CANCEL_REQUESTED', 'CANCELED') THEN
        v_outcome := 'paid';
    ELSE
        v_outcome := 'refused';
    END IF;
    RETURN QUERY SELECT v_outcome, p.approvals, p.provider_ref, p.amount, p.tax_free, p.vat,
        p.currency, o.member, o.status
      FROM payment p JOIN customer_order o ON o.id = p.order_id WHERE p.id = p_payment;
END $$;

-- Certainly nothing was taken and the session goes on: APPROVING → READY, if it is still that time.
-- p_alert: a person should know why. 'done' or 'stale'.
CREATE FUNCTION payment_approve_undo(
    p_payment text, p_approvals integer, p_why text, p_alert boolean) RETURNS payment_result
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_payment payment := payment_lock(p_payment);
BEGIN
    IF v_payment.state = 'APPROVING' AND v_payment.approvals = p_approvals THEN
        PERFORM payment_move(p_payment, 'READY', p_why, v_payment.final_at);
        UPDATE payment p SET needs_person = p_alert, last_error = p_why WHERE p.id = p_payment;
        RETURN payment_answer('done', p_payment, false, false);
    END IF;
    RETURN payment_answer('stale', p_payment, false, false);
END $$;

-- No clear answer came: APPROVING → UNKNOWN, to be looked at soon. 'done', 'same' or 'stale'.
CREATE FUNCTION payment_unknown(p_payment text, p_approvals integer, p_why text)
RETURNS payment_result
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_payment payment := payment_lock(p_payment);
BEGIN
    IF v_payment.state = 'APPROVING' AND v_payment.approvals = p_approvals THEN
        PERFORM payment_move(p_payment, 'UNKNOWN', p_why, now() + interval '1 second');
        RETURN payment_answer('done', p_payment, false, false);
    END IF;
    RETURN payment_answer(CASE v_payment.state WHEN 'UNKNOWN' THEN 'same' ELSE 'stale' END,
        p_payment, false, false);
END $$;

-- The provider says that it has taken p_amount, and given p_canceled of it back.
--   'done'      the order is PAID
--   'same'      it was before
--   'refund'    the order or the payment has ended: to be given back
--   'mismatch'  not what was to be paid: it stays as it is, and a person has to look
CREATE FUNCTION payment_paid(
    p_payment text, p_ref text, p_amount bigint, p_currency text, p_canceled bigint, p_why text)
RETURNS payment_result
LANGUAGE plpgsql VOLATILE AS $$
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
           SET retry_at = CASE WHEN p.has_news AND p.state <> 'CANCELED' THEN now() END, attempts = 0
         WHERE p.id = p_payment AND p.retry_at IS NOT NULL;
        v_outcome := 'same';
    END IF;
    RETURN payment_answer(v_outcome, p_payment, false, false);
END $$;

-- The order of a payment that has just ended unpaid. p_give_back: it ends too, as p_status. Otherwise the
-- member may pay in another way, until the time that the order had before this payment raised it.
CREATE FUNCTION order_after_unpaid(
    p_order text, p_give_back boolean, p_status text, OUT place_freed boolean, OUT came_back boolean)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    v_order customer_order%ROWTYPE;
    v_end record;
BEGIN
    place_freed := false;
    came_back := false;
    SELECT * INTO v_order FROM customer_order o WHERE o.id = p_order;
    IF v_order.status <> 'PENDING_PAYMENT' THEN
        RETURN;
    ELSIF NOT p_give_back AND COALESCE(v_order.pay_until, v_order.expires_at) > now() THEN
        UPDATE customer_order o SET expires_at = COALESCE(o.pay_until, o.expires_at)
         WHERE o.id = p_order;
        RETURN;
    END IF;
    SELECT * INTO v_end FROM order_end(p_order, CASE WHEN p_give_back THEN p_status ELSE 'EXPIRED' END);
    place_freed := v_end.place_freed;
    came_back := v_end.came_back;
END $$;

-- The provider says that nothing was taken: p_state FAILED (over there), or EXPIRED (still open there, or
-- its time is over). p_final: it was asked after final_at, or it has said so in answer to an approval;
-- before that EXPIRED is no end. What was ever APPROVING is asked once more, after final_at and a grace.
--   'done', 'same'; 'early': to be asked again, and it is known when; 'stale'
CREATE FUNCTION payment_unpaid(
    p_payment text, p_state text, p_final boolean, p_give_back boolean, p_why text)
RETURNS payment_result
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_payment payment := payment_lock(p_payment);
    v_end record;
    v_last_look timestamptz;
BEGIN
    IF v_payment.state IN ('FAILED', 'EXPIRED', 'STOPPED') THEN
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
           SET retry_at = CASE p.state WHEN 'READY' THEN p.final_at
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

-- The member came back by cancel or fail: READY → STOPPED, so that nothing can be approved any more. With
-- p_give_back the order ends as p_status. 'done', 'same' or 'stale'.
CREATE FUNCTION payment_stop(
    p_payment text, p_give_back boolean, p_status text, p_why text) RETURNS payment_result
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_payment payment := payment_lock(p_payment);
    v_end record;
    v_last_look timestamptz;
BEGIN
    IF v_payment.state = 'READY' THEN
        IF v_payment.approvals > 0 THEN
            v_last_look := v_payment.final_at;
        END IF;
        PERFORM payment_move(p_payment, 'STOPPED', p_why, v_last_look);
        SELECT * INTO v_end FROM order_after_unpaid(v_payment.order_id, p_give_back, p_status);
        RETURN payment_answer('done', p_payment, v_end.place_freed, v_end.came_back);
    END IF;
    RETURN payment_answer(CASE v_payment.state WHEN 'STOPPED' THEN 'same' ELSE 'stale' END,
        p_payment, false, false);
END $$;

-- Cancels a member's own order: an unpaid one at once, with its goods and with the payment that nobody has
-- approved; a free one at once; a paid one as far as CANCEL_REQUESTED, for the provider has to give the
-- money back first. One that is canceled already, or on its way, stays as it is.
-- Returns no row where the member has no such order; else the order as it is now, whether it held its
-- place until now, whether something came back that was all gone, and the payment that is to be given back
-- from now on by whoever gets it, NULL where there is none.
CREATE FUNCTION order_cancel(p_member text, p_order text)
RETURNS TABLE (o order_view, place_freed boolean, came_back boolean, payment_id text)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    v_order customer_order%ROWTYPE;
    v_payment payment%ROWTYPE;
    v_end record;
    v_refund text;
    v_place_freed boolean := false;
    v_came_back boolean := false;
BEGIN
    SELECT * INTO v_order FROM customer_order c
     WHERE c.id = p_order AND c.member = p_member FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT * INTO v_payment FROM payment p
     WHERE p.order_id = p_order
       AND (p.state IN ('STARTING', 'READY', 'APPROVING', 'UNKNOWN') OR p.pays AND p.state = 'PAID')
       FOR NO KEY UPDATE;
    IF v_payment.state IN ('APPROVING', 'UNKNOWN') THEN
        RAISE EXCEPTION 'PAYMENT_IN_PROGRESS' USING ERRCODE = 'SL040', DETAIL = v_payment.state;
    ELSIF v_order.status = 'PENDING_PAYMENT' OR (v_order.status = 'PAID' AND v_order.total_amount = 0) THEN
        IF v_payment.id IS NOT NULL THEN
            PERFORM payment_move(v_payment.id,
                CASE v_payment.state WHEN 'READY' THEN 'STOPPED' ELSE 'FAILED' END,
                'the member canceled the order',
                CASE WHEN v_payment.approvals > 0 THEN v_payment.final_at END);
        END IF;
        SELECT * INTO v_end FROM order_end(p_order, 'CANCELED');
        v_place_freed := v_end.place_freed;
        v_came_back := v_end.came_back;
    ELSIF v_order.status = 'PAID' AND v_payment.id IS NOT NULL THEN
        PERFORM payment_move(v_payment.id, 'CANCEL_REQUESTED', 'the member canceled the order',
            now() + interval '30 seconds');
        UPDATE customer_order c SET status = 'CANCEL_REQUESTED' WHERE c.id = p_order;
        v_refund := v_payment.id;
    ELSIF v_order.status NOT IN ('CANCELED', 'CANCEL_REQUESTED') THEN
        RAISE EXCEPTION 'NOT_CANCELABLE' USING ERRCODE = 'SL010', DETAIL = v_order.status;
    END IF;
    RETURN QUERY SELECT v, v_place_freed, v_came_back, v_refund
      FROM order_view v WHERE v.id = p_order;
END $$;

-- As the release before this one calls it.
CREATE OR REPLACE FUNCTION cancel_order(p_member text, p_order text)
RETURNS TABLE (
    id text, queue text, status text, total_amount bigint, currency text, created_us bigint,
    expires_us bigint, items text, place_held boolean, came_back boolean)
LANGUAGE sql VOLATILE AS $$
    SELECT (c.o).id, (c.o).queue, (c.o).status, (c.o).total_amount, (c.o).currency, (c.o).created_us,
           (c.o).expires_us, (c.o).items, c.place_freed, c.came_back
      FROM order_cancel(p_member, p_order) c
$$;

-- The provider says that p_canceled of a payment was given back. All of it: CANCELED, and the goods of the
-- order that it paid for come back, once. Less: it is noted down.
--   'done', 'same'; 'partial'; 'stale': it was never paid, as far as we know
CREATE FUNCTION payment_canceled(
    p_payment text, p_canceled bigint, p_give_back boolean, p_why text) RETURNS payment_result
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_payment payment := payment_lock(p_payment);
    v_end record;
BEGIN
    IF v_payment.state = 'CANCELED' THEN
        RETURN payment_answer('same', p_payment, false, false);
    ELSIF v_payment.state = 'STARTING' THEN
        RETURN payment_answer('stale', p_payment, false, false);
    END IF;
    UPDATE payment p
       SET canceled_amount = greatest(p.canceled_amount, least(p_canceled, p.amount)), updated_at = now()
     WHERE p.id = p_payment;
    IF p_canceled < v_payment.amount THEN
        RETURN payment_answer('partial', p_payment, false, false);
    END IF;
    IF v_payment.state = 'APPROVING' THEN
        PERFORM payment_move(p_payment, 'UNKNOWN', p_why, now());
    END IF;
    IF v_payment.state <> 'CANCEL_REQUESTED' THEN
        PERFORM payment_move(p_payment, 'CANCEL_REQUESTED', p_why, now());
    END IF;
    PERFORM payment_move(p_payment, 'CANCELED', p_why, NULL);
    IF v_payment.pays THEN
        SELECT * INTO v_end FROM order_end(v_payment.order_id, 'CANCELED');
    ELSIF v_payment.state IN ('READY', 'APPROVING', 'UNKNOWN') THEN
        SELECT * INTO v_end FROM order_after_unpaid(v_payment.order_id, p_give_back, 'PAYMENT_FAILED');
    ELSE
        SELECT false AS place_freed, false AS came_back INTO v_end;
    END IF;
    RETURN payment_answer('done', p_payment, v_end.place_freed, v_end.came_back);
END $$;

-- The provider refuses to give a payment back. Where the order still has its goods, it is PAID again;
-- otherwise it stays to be given back. A person has to look at either, and the provider is asked once more
-- soon: another call may have been under way. 'done' or 'stale'.
CREATE FUNCTION payment_cancel_refused(p_payment text, p_why text) RETURNS payment_result
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_payment payment := payment_lock(p_payment);
BEGIN
    IF v_payment.state <> 'CANCEL_REQUESTED' THEN
        RETURN payment_answer('stale', p_payment, false, false);
    ELSIF v_payment.pays THEN
        PERFORM payment_move(p_payment, 'PAID', p_why, now() + interval '1 minute');
        UPDATE customer_order o SET status = 'PAID'
         WHERE o.id = v_payment.order_id AND o.status = 'CANCEL_REQUESTED';
    END IF;
    UPDATE payment p SET needs_person = true, last_error = p_why, updated_at = now()
     WHERE p.id = p_payment;
    RETURN payment_answer('done', p_payment, false, false);
END $$;

-- How long after the look number p_attempts that brought nothing the next one comes: 2, 4, 8 … 300 seconds,
-- a quarter more or less.
CREATE FUNCTION payment_pause(p_attempts integer) RETURNS interval
LANGUAGE sql VOLATILE AS $$
    SELECT least(300, power(2, least(greatest(p_attempts, 1), 10))) * (0.75 + random() / 2)
           * interval '1 second'
$$;

-- A look at a payment, or a call about it, brought nothing: kept for support. Whoever had taken it from
-- payments_due() is done with it.
CREATE FUNCTION payment_note(p_payment text, p_error text, p_needs_person boolean)
RETURNS payment_result
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    UPDATE payment p
       SET last_error = p_error, needs_person = p.needs_person OR p_needs_person, updated_at = now(),
           retry_at = CASE WHEN p.retry_at IS NOT NULL THEN now() + payment_pause(p.attempts) END
     WHERE p.id = p_payment;
    RETURN payment_answer('done', p_payment, false, false);
END $$;

-- Somebody says that there is news of a payment: it is looked at soon, at most once a second for this, and once
-- more where a look is under way that may have been too early.
-- Returns its id, no row where there is none.
CREATE FUNCTION payment_hint(p_provider text, p_ref text, p_payment text)
RETURNS TABLE (payment_id text)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
    UPDATE payment p
       SET has_news = true,
           retry_at = least(p.retry_at, greatest(now(), p.hinted_at + interval '1 second')),
           hinted_at = CASE WHEN p.retry_at <= greatest(now(), p.hinted_at + interval '1 second')
               THEN p.hinted_at ELSE greatest(now(), p.hinted_at + interval '1 second') END
     WHERE p.provider = p_provider AND (p.provider_ref = p_ref OR p.id = p_payment)
       AND p.provider_ref IS NOT NULL AND p.state <> 'CANCELED';
    RETURN QUERY SELECT p.id FROM payment p
     WHERE p.provider = p_provider AND (p.provider_ref = p_ref OR p.id = p_payment);
END $$;

-- An operator wants it to be looked at now. Nothing else changes. No row where there is none; else whether
-- it will be: one that is STARTING, or given back, is not.
CREATE FUNCTION payment_look(p_payment text) RETURNS TABLE (will_be boolean)
LANGUAGE sql VOLATILE AS $$
    UPDATE payment p
       SET retry_at = CASE WHEN p.state = 'CANCELED' OR p.provider_ref IS NULL
               THEN p.retry_at ELSE now() END,
           has_news = p.state <> 'CANCELED' AND p.provider_ref IS NOT NULL
     WHERE p.id = p_payment
    RETURNING p.state <> 'CANCELED' AND p.provider_ref IS NOT NULL
$$;

-- Payments to look at, at most p_limit, each with one attempt more. They are the caller's for
-- p_lease_seconds: nobody else gets them meanwhile, unless there is news of them. After p_person_after
-- attempts one needs a person, and is tried on all the same. is_final: final_at is past, so "not paid" will
-- count.
CREATE FUNCTION payments_due(p_limit bigint, p_person_after bigint, p_lease_seconds bigint)
RETURNS TABLE (
    id text, order_id text, provider text, state text, ref text, amount bigint, tax_free bigint,
    vat bigint, currency text, canceled_amount bigint, member text, is_final boolean,
    approvals integer, attempts integer, needs_person boolean)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH due AS (
        SELECT p.id FROM payment p WHERE p.retry_at <= now()
         ORDER BY p.retry_at LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
    ), taken AS (
        UPDATE payment p
           SET attempts = p.attempts + 1, has_news = false,
               retry_at = now() + make_interval(secs => p_lease_seconds) + payment_pause(p.attempts + 1),
               needs_person = p.needs_person OR p.attempts + 1 >= p_person_after
          FROM due WHERE p.id = due.id
        RETURNING p.*
    )
    SELECT t.id, t.order_id, t.provider, t.state, t.provider_ref, t.amount, t.tax_free, t.vat,
           t.currency, t.canceled_amount, o.member, COALESCE(t.final_at <= now(), true), t.approvals,
           t.attempts, t.needs_person
      FROM taken t JOIN customer_order o ON o.id = t.order_id
     ORDER BY t.id;
END $$;

-- An order with an open payment does not end here: the payment ends first, by asking. Whether it has one
-- is looked at again under the lock, in a snapshot that is newer.
CREATE OR REPLACE FUNCTION expire_orders(p_limit bigint)
RETURNS TABLE (id text, queue text, member text, place_held boolean)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    v_locked text[];
    v_orders text[];
    v_held text[];
BEGIN
    SELECT array_agg(due.id) INTO v_locked
      FROM (SELECT o.id FROM customer_order o
             WHERE o.status = 'PENDING_PAYMENT' AND o.expires_at <= now()
               AND NOT EXISTS (SELECT FROM payment p WHERE p.order_id = o.id
                       AND p.state IN ('STARTING', 'READY', 'APPROVING', 'UNKNOWN'))
             ORDER BY o.expires_at LIMIT p_limit FOR NO KEY UPDATE OF o SKIP LOCKED) AS due;
    SELECT array_agg(o.id), array_agg(o.id) FILTER (WHERE o.place_held)
      INTO v_orders, v_held
      FROM customer_order o
     WHERE o.id = ANY (v_locked) AND o.status = 'PENDING_PAYMENT' AND o.expires_at <= now()
       AND NOT EXISTS (SELECT FROM payment p WHERE p.order_id = o.id
               AND p.state IN ('STARTING', 'READY', 'APPROVING', 'UNKNOWN'));
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
