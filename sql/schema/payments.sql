-- payments: the tables, views, types and functions after all migrations.
-- Written by scripts/schema from a migrated PostgreSQL: never run, and not to be edited. Changes are new files of sql/migrations.
-- Of functions there is the signature (of those that a constraint calls, all), below the last migration that defines one of
-- this name. Rights: sql/rights.sql.

-- The states of payment_states.tbl, which says what they mean.
CREATE TABLE payment_state (
    name text COLLATE "C" NOT NULL,
    -- The order does not end before the payment has left such a state.
    is_open boolean NOT NULL,
    may_hold_money boolean NOT NULL,
    CONSTRAINT payment_state_pkey PRIMARY KEY (name)
);

-- The transitions of payment_states.tbl, which says by what. Any other change is refused by payment_follow_state().
CREATE TABLE payment_transition (
    from_state text COLLATE "C" NOT NULL,
    to_state text COLLATE "C" NOT NULL,
    CONSTRAINT payment_transition_pkey PRIMARY KEY (from_state, to_state),
    CONSTRAINT payment_transition_from_fkey FOREIGN KEY (from_state) REFERENCES payment_state(name),
    CONSTRAINT payment_transition_to_fkey FOREIGN KEY (to_state) REFERENCES payment_state(name)
);

-- One attempt to pay an order. Its id is what the provider knows the order by: each attempt has a name of its own there.
CREATE TABLE payment (
    id text COLLATE "C" NOT NULL,
    order_id text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL DEFAULT 'STARTING'::text,
    -- What the last change of state came from; payment_event keeps all of them.
    why text NOT NULL DEFAULT ''::text,
    -- SHA-256 of the state in the return URLs, which is kept nowhere.
    return_hash text COLLATE "C" NOT NULL,
    -- What the provider calls it (tid, paymentKey).
    provider_ref text COLLATE "C",
    -- Where the member pays, at the provider.
    redirect_url text,
    -- In the minor unit of currency, as tax_free, vat and canceled_amount.
    amount bigint NOT NULL,
    -- The part of amount that bears no VAT.
    tax_free bigint NOT NULL,
    -- The VAT contained in amount.
    vat bigint NOT NULL,
    currency text COLLATE "C" NOT NULL,
    -- What the provider has given back so far.
    canceled_amount bigint NOT NULL DEFAULT 0,
    -- End of the provider's session.
    session_ends_at timestamp with time zone,
    -- Session's end and a grace: "not paid" counts from then on, not before.
    final_at timestamp with time zone,
    -- How often it went to APPROVING: each way back says which time it means.
    approvals integer NOT NULL DEFAULT 0,
    -- The order has its goods for this payment, or had until it was canceled.
    pays boolean NOT NULL DEFAULT false,
    -- Looks since the last change of state that brought nothing.
    attempts integer NOT NULL DEFAULT 0,
    -- When reconcile looks at it next; NULL: it is settled.
    retry_at timestamp with time zone,
    -- Which second's look a webhook has asked for last.
    hinted_at timestamp with time zone,
    -- Somebody said so since it was last taken to be looked at: what is known of it may be old.
    has_news boolean NOT NULL DEFAULT false,
    -- Operators are asked to look at it.
    needs_person boolean NOT NULL DEFAULT false,
    -- Why the last look or call brought nothing, for support.
    last_error text NOT NULL DEFAULT ''::text,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    -- It ended as not paid although an approval of it had no clear answer, and no look-up after final_at has said since that nothing was taken.
    in_doubt boolean NOT NULL DEFAULT false,
    CONSTRAINT payment_pkey PRIMARY KEY (id),
    CONSTRAINT payment_order_id_fkey FOREIGN KEY (order_id) REFERENCES customer_order(id),
    CONSTRAINT payment_id_check CHECK (id ~ '^p_[A-Za-z0-9_-]{22}$'::text),
    CONSTRAINT payment_money_check CHECK (amount >= 1 AND amount <= '9007199254740991'::bigint AND tax_free >= 0 AND tax_free <= amount AND vat >= 0 AND vat <= amount AND canceled_amount >= 0 AND canceled_amount <= amount),
    CONSTRAINT payment_numbers_check CHECK (approvals >= 0 AND attempts >= 0),
    CONSTRAINT payment_pays_check CHECK (
CASE
    WHEN pays THEN state = ANY (ARRAY['PAID'::text, 'CANCEL_REQUESTED'::text, 'CANCELED'::text])
    ELSE state <> 'PAID'::text
END),
    CONSTRAINT payment_redirect_url_check CHECK (char_length(redirect_url) >= 1 AND char_length(redirect_url) <= 2048),
    CONSTRAINT payment_ref_check CHECK (provider_ref ~ '^[!-~]{1,200}$'::text),
    CONSTRAINT payment_return_hash_check CHECK (return_hash ~ '^[A-Za-z0-9_-]{43}$'::text),
    CONSTRAINT payment_session_check CHECK ((state = ANY (ARRAY['STARTING'::text, 'FAILED'::text])) OR num_nulls(provider_ref, redirect_url, session_ends_at, final_at) = 0)
) WITH (fillfactor=70);
-- Serves payments_page.sql: all of them.
CREATE INDEX payment_created_idx ON payment (created_at, id);
-- Serves payments_due().
CREATE INDEX payment_due_idx ON payment (retry_at) WHERE (retry_at IS NOT NULL);
-- One open payment an order. Serves whoever wants to end the order.
CREATE UNIQUE INDEX payment_open_key ON payment (order_id) WHERE (state = ANY (ARRAY['STARTING'::text, 'READY'::text, 'APPROVING'::text, 'UNKNOWN'::text]));
-- Serves payment_returns.sql: the payments of an order.
CREATE INDEX payment_order_idx ON payment (order_id, created_at);
-- No order is paid twice.
CREATE UNIQUE INDEX payment_paid_key ON payment (order_id) WHERE (pays AND (state <> 'CANCELED'::text));
-- Serves payments_page.sql: what needs a person.
CREATE INDEX payment_person_idx ON payment (created_at, id) WHERE needs_person;
-- Serves payment_hint().
CREATE UNIQUE INDEX payment_ref_key ON payment (provider, provider_ref);
-- Serves payments_page.sql: those in one state.
CREATE INDEX payment_state_idx ON payment (state, created_at, id);
CREATE TRIGGER payment_state_trigger AFTER INSERT OR UPDATE OF state ON payment FOR EACH ROW EXECUTE FUNCTION payment_follow_state();

-- Every change of a payment's state. Append only.
CREATE TABLE payment_event (
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    payment_id text COLLATE "C" NOT NULL,
    -- NULL: its beginning.
    from_state text COLLATE "C",
    to_state text COLLATE "C" NOT NULL,
    why text NOT NULL,
    at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT payment_event_pkey PRIMARY KEY (id),
    CONSTRAINT payment_event_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payment(id)
);
-- Serves support: the life of one payment.
CREATE INDEX payment_event_payment_idx ON payment_event (payment_id, id);
CREATE TRIGGER payment_event_append_only_trigger BEFORE DELETE OR UPDATE OR TRUNCATE ON payment_event FOR EACH STATEMENT EXECUTE FUNCTION payment_event_is_append_only();

CREATE TYPE payment_result AS (
    outcome text,
    state text,
    order_id text,
    order_status text,
    queue text,
    member text,
    place_freed boolean,
    came_back boolean,
    session_ends_us bigint
);

-- What becomes of the order of a payment that has just ended unpaid.
-- 0013_payments.sql
-- FUNCTION order_after_unpaid(p_order text, p_give_back boolean, p_status text, OUT place_freed boolean, OUT came_back boolean)
--     RETURNS record LANGUAGE plpgsql

-- Cancels a member's own order, a paid one as far as CANCEL_REQUESTED.
-- 0013_payments.sql
-- FUNCTION order_cancel(p_member text, p_order text)
--     RETURNS TABLE(o order_view, place_freed boolean, came_back boolean, payment_id text) LANGUAGE plpgsql SECURITY DEFINER

-- Ends an order, which the caller has locked; its goods go back.
-- 0013_payments.sql
-- FUNCTION order_end(p_order text, p_status text, OUT place_freed boolean, OUT came_back boolean)
--     RETURNS record LANGUAGE plpgsql

-- What a provider shows of an order.
-- 0013_payments.sql
-- FUNCTION order_title(p_order text)
--     RETURNS TABLE(title text, quantity bigint) LANGUAGE sql STABLE

-- The answer of the other functions: the payment and its order as they are now.
-- 0013_payments.sql
-- FUNCTION payment_answer(p_outcome text, p_payment text, p_place_freed boolean, p_came_back boolean)
--     RETURNS payment_result LANGUAGE plpgsql

-- READY to APPROVING, for one of all who try. Outcome: go, paid, confirming, refused.
-- 0013_payments.sql
-- FUNCTION payment_approve_begin(p_payment text, p_provider text, p_wait_seconds bigint)
--     RETURNS TABLE(outcome text, approvals integer, ref text, amount bigint, tax_free bigint, vat bigint, currency text, member text, order_status text) LANGUAGE plpgsql SECURITY DEFINER

-- Nothing was taken and the session goes on: APPROVING to READY. Outcome: done, stale.
-- 0013_payments.sql
-- FUNCTION payment_approve_undo(p_payment text, p_approvals integer, p_why text, p_alert boolean)
--     RETURNS payment_result LANGUAGE plpgsql SECURITY DEFINER

-- The provider refuses to give a payment back. Outcome: done, stale.
-- 0013_payments.sql
-- FUNCTION payment_cancel_refused(p_payment text, p_why text)
--     RETURNS payment_result LANGUAGE plpgsql SECURITY DEFINER

-- The provider has given p_canceled back. Outcome: done, same, partial, stale.
-- 0013_payments.sql
-- FUNCTION payment_canceled(p_payment text, p_canceled bigint, p_give_back boolean, p_why text)
--     RETURNS payment_result LANGUAGE plpgsql SECURITY DEFINER

-- 0013_payments.sql
-- FUNCTION payment_event_is_append_only()
--     RETURNS trigger LANGUAGE plpgsql

-- Refuses a change that payment_transition does not have, and records the others in payment_event.
-- 0013_payments.sql
-- FUNCTION payment_follow_state()
--     RETURNS trigger LANGUAGE plpgsql

-- There is news of a payment: it is looked at soon, at most once a second.
-- 0013_payments.sql
-- FUNCTION payment_hint(p_provider text, p_ref text, p_payment text)
--     RETURNS TABLE(payment_id text) LANGUAGE plpgsql SECURITY DEFINER

-- Locks a payment, its order before it.
-- 0013_payments.sql
-- FUNCTION payment_lock(p_payment text)
--     RETURNS payment LANGUAGE plpgsql

-- An operator wants a payment to be looked at now; whether it will be.
-- 0013_payments.sql
-- FUNCTION payment_look(p_payment text)
--     RETURNS TABLE(will_be boolean) LANGUAGE sql SECURITY DEFINER

-- Changes the state, and when reconcile looks next; NULL: it is settled.
-- 0013_payments.sql
-- FUNCTION payment_move(p_payment text, p_state text, p_why text, p_retry_at timestamp with time zone)
--     RETURNS void LANGUAGE sql

-- A look at a payment, or a call about it, brought nothing.
-- 0013_payments.sql
-- FUNCTION payment_note(p_payment text, p_error text, p_needs_person boolean)
--     RETURNS payment_result LANGUAGE plpgsql SECURITY DEFINER

-- Begins to pay a member's own order. Outcome: opened, same, in_progress, not_payable.
-- 0013_payments.sql
-- FUNCTION payment_open(p_member text, p_order text, p_payment text, p_provider text, p_return_hash text, p_wait_seconds bigint)
--     RETURNS TABLE(outcome text, order_status text, payment_id text, redirect_url text, session_ends_us bigint, amount bigint, tax_free bigint, vat bigint, currency text, title text, quantity bigint) LANGUAGE plpgsql SECURITY DEFINER

-- The provider says that it is paid: PAID, or a refund where the order has ended. Outcome: done, same, refund, mismatch.
-- 0022_payment_looks.sql
-- FUNCTION payment_paid(p_payment text, p_ref text, p_amount bigint, p_currency text, p_canceled bigint, p_why text)
--     RETURNS payment_result LANGUAGE plpgsql SECURITY DEFINER

-- How long after look number p_attempts that brought nothing the next one comes: 2 to 300 seconds.
-- 0013_payments.sql
-- FUNCTION payment_pause(p_attempts integer)
--     RETURNS interval LANGUAGE sql

-- The provider has a session. Outcome: done, same, ended, stale.
-- 0013_payments.sql
-- FUNCTION payment_ready(p_payment text, p_ref text, p_redirect_url text, p_session_seconds bigint, p_grace_seconds bigint)
--     RETURNS payment_result LANGUAGE plpgsql SECURITY DEFINER

-- A payment could not be started, and is over. Outcome: done, same, stale.
-- 0013_payments.sql
-- FUNCTION payment_start_failed(p_payment text, p_why text)
--     RETURNS payment_result LANGUAGE plpgsql SECURITY DEFINER

-- The member came back by cancel or fail: READY to STOPPED. Outcome: done, same, stale.
-- 0013_payments.sql
-- FUNCTION payment_stop(p_payment text, p_give_back boolean, p_status text, p_why text)
--     RETURNS payment_result LANGUAGE plpgsql SECURITY DEFINER

-- No clear answer came: APPROVING to UNKNOWN. Outcome: done, same, stale.
-- 0013_payments.sql
-- FUNCTION payment_unknown(p_payment text, p_approvals integer, p_why text)
--     RETURNS payment_result LANGUAGE plpgsql SECURITY DEFINER

-- Nothing was taken: p_state FAILED (over at the provider), or EXPIRED (still open there, or its time is over). p_approvals: how often the payment had been APPROVING when the provider was asked; after another approval the report says nothing about it. p_final: it was asked after final_at, or it has said so in answer to an approval; before that EXPIRED is no end. p_answered: the provider says so; false: it does not answer or does not know the payment, and the caller knows that nothing was taken. What was ever APPROVING, and what ends unanswered, is asked once more, after final_at and a grace. Outcome: done, same; early: to be asked again, and it is known when; stale: nothing was written.
-- 0022_payment_looks.sql
-- FUNCTION payment_unpaid(p_payment text, p_approvals integer, p_state text, p_final boolean, p_answered boolean, p_give_back boolean, p_why text)
--     RETURNS payment_result LANGUAGE plpgsql SECURITY DEFINER

-- 0022_payment_looks.sql
-- FUNCTION payment_unpaid(p_payment text, p_state text, p_final boolean, p_give_back boolean, p_why text)
--     RETURNS payment_result LANGUAGE sql SECURITY DEFINER

-- Takes payments to look at, each with one attempt more, for p_lease_seconds.
-- 0013_payments.sql
-- FUNCTION payments_due(p_limit bigint, p_person_after bigint, p_lease_seconds bigint)
--     RETURNS TABLE(id text, order_id text, provider text, state text, ref text, amount bigint, tax_free bigint, vat bigint, currency text, canceled_amount bigint, member text, is_final boolean, approvals integer, attempts integer, needs_person boolean) LANGUAGE plpgsql SECURITY DEFINER
