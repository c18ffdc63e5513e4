-- 0001_tables: queues, products, orders, and the records that make every order happen once.
-- Purpose   the truth about orders and stock, and about who has spent an admission
-- Locks     only on tables made here
-- Undo      a new migration that drops them
--
-- How it hangs together. Redis decides who may order; these tables have the last word. One order is one
-- call of place_order(): its row (unique by member and idempotency key), its lines, the claim that it
-- spends (claim_outcome), the admission that it spends (admission_use), its outbox row and the stock, all
-- or nothing. Whoever inserts a claim's id first decides its fate: the order as `committed`, or reconcile
-- as `released`. The outbox says what Redis has yet to be told; every row of it may be carried out twice.
-- The hot tables refer to queue and product without a foreign key: both are never deleted, and the check
-- would lock the hottest row of all once an order.
-- Text ids compare by bytes (COLLATE "C"): the same order in every database, and the fastest.

CREATE TABLE queue (
    id              text COLLATE "C" NOT NULL,
    settings        jsonb NOT NULL,
    operator_state  text NOT NULL DEFAULT 'OPEN',
    epoch           bigint NOT NULL DEFAULT 1,
    incarnation     bigint NOT NULL DEFAULT 1,
    version         bigint NOT NULL DEFAULT 1,
    seq_checkpoint  bigint NOT NULL DEFAULT 0,
    sold_out        boolean NOT NULL DEFAULT false,
    sold_out_change bigint NOT NULL DEFAULT 0,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    deleted_at      timestamptz,
    CONSTRAINT queue_pkey PRIMARY KEY (id),
    CONSTRAINT queue_id_check CHECK (id ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    CONSTRAINT queue_settings_check CHECK (jsonb_typeof(settings) = 'object'),
    CONSTRAINT queue_operator_state_check
        CHECK (operator_state IN ('OPEN', 'PAUSED', 'DRAINING', 'SOLD_OUT')),
    CONSTRAINT queue_numbers_check CHECK (epoch >= 1 AND incarnation >= 1 AND version >= 1
        AND seq_checkpoint >= 0 AND sold_out_change >= 0)
);
COMMENT ON TABLE queue IS 'A waiting room. Never deleted: deleted_at marks its end.';
COMMENT ON COLUMN queue.settings IS 'Settings by their wire names; what is left out takes its default.';
COMMENT ON COLUMN queue.epoch IS 'Raised by reset only: tickets of an older epoch are void.';
COMMENT ON COLUMN queue.incarnation IS 'Raised when Redis lost its memory, under the exclusive lock of raise_incarnation().';
COMMENT ON COLUMN queue.version IS 'Raised by every change that Redis has to hear of.';
COMMENT ON COLUMN queue.seq_checkpoint IS 'A place number seen in Redis; recovery starts above it.';
COMMENT ON COLUMN queue.sold_out IS 'Last finding of availability().';
COMMENT ON COLUMN queue.sold_out_change IS 'Number of that finding: Redis ignores an older one.';

CREATE TABLE product (
    sku          text COLLATE "C" NOT NULL,
    name         text NOT NULL,
    price_amount bigint NOT NULL,
    currency     text COLLATE "C" NOT NULL,
    stock        bigint NOT NULL,
    available    bigint NOT NULL,
    queue        text COLLATE "C" NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT product_pkey PRIMARY KEY (sku),
    CONSTRAINT product_queue_fkey FOREIGN KEY (queue) REFERENCES queue (id),
    CONSTRAINT product_sku_check CHECK (sku ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    CONSTRAINT product_name_check CHECK (char_length(name) BETWEEN 1 AND 200),
    CONSTRAINT product_price_amount_check CHECK (price_amount BETWEEN 0 AND 1000000000000),
    CONSTRAINT product_currency_check CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT product_stock_check CHECK (stock BETWEEN 0 AND 1000000000),
    CONSTRAINT product_available_check CHECK (available BETWEEN 0 AND stock)
) WITH (fillfactor = 50);
COMMENT ON TABLE product IS 'What is sold. Half of each page is free, so that a sale updates its row in place (HOT).';
COMMENT ON COLUMN product.price_amount IS 'In the minor unit of currency.';
COMMENT ON COLUMN product.stock IS 'All there is, sold and unsold; available is what is left of it.';
COMMENT ON CONSTRAINT product_available_check ON product IS 'Never oversold, never given back twice.';
CREATE INDEX product_queue_idx ON product (queue);
COMMENT ON INDEX product_queue_idx IS 'Serves availability(): what a queue sells.';

CREATE TABLE customer_order (
    id                text COLLATE "C" NOT NULL,
    queue             text COLLATE "C" NOT NULL,
    member            text COLLATE "C" NOT NULL,
    idempotency_key   text COLLATE "C" NOT NULL,
    key_hash          text COLLATE "C" NOT NULL,
    fingerprint       text COLLATE "C" NOT NULL,
    admission_id      text COLLATE "C" NOT NULL,
    claim_id          text COLLATE "C" NOT NULL,
    status            text COLLATE "C" NOT NULL,
    total_amount      bigint NOT NULL,
    currency          text COLLATE "C" NOT NULL,
    created_at        timestamptz NOT NULL DEFAULT now(),
    expires_at        timestamptz,
    stock_returned_at timestamptz,
    place_held        boolean NOT NULL DEFAULT false,
    CONSTRAINT customer_order_pkey PRIMARY KEY (id),
    CONSTRAINT customer_order_member_key UNIQUE (member, idempotency_key),
    CONSTRAINT customer_order_id_check CHECK (id ~ '^o_[A-Za-z0-9_-]{22}$'),
    CONSTRAINT customer_order_status_check CHECK (status IN
        ('PENDING_PAYMENT', 'PAID', 'PAYMENT_FAILED', 'EXPIRED', 'CANCEL_REQUESTED', 'CANCELED')),
    CONSTRAINT customer_order_total_check CHECK (total_amount BETWEEN 0 AND 9007199254740991),
    CONSTRAINT customer_order_expires_check
        CHECK (status <> 'PENDING_PAYMENT' OR expires_at IS NOT NULL),
    CONSTRAINT customer_order_returned_check
        CHECK ((status IN ('EXPIRED', 'CANCELED')) = (stock_returned_at IS NOT NULL)),
    CONSTRAINT customer_order_place_check CHECK (NOT place_held OR status = 'PENDING_PAYMENT')
) WITH (fillfactor = 80);
COMMENT ON TABLE customer_order IS 'An order, and the record of its idempotency key.';
COMMENT ON COLUMN customer_order.fingerprint IS 'SHA-256 of the request in canonical form: tells a repeat from another order under the same key.';
COMMENT ON COLUMN customer_order.key_hash IS 'SHA-256 of the key, what Redis knows of it.';
COMMENT ON COLUMN customer_order.place_held IS 'The member''s place in the queue stays taken until this order is paid or ends.';
COMMENT ON COLUMN customer_order.stock_returned_at IS 'When its quantities went back to stock: exactly the orders that ended unsold have it.';
COMMENT ON CONSTRAINT customer_order_member_key ON customer_order IS 'One order for a member''s key. Serves place_order() and order_by_key.sql.';
CREATE INDEX customer_order_member_created_idx ON customer_order (member, created_at, id);
COMMENT ON INDEX customer_order_member_created_idx IS 'Serves order_list.sql.';
CREATE INDEX customer_order_due_idx ON customer_order (expires_at) WHERE status = 'PENDING_PAYMENT';
COMMENT ON INDEX customer_order_due_idx IS 'Serves expire_orders().';

CREATE TABLE order_item (
    order_id   text COLLATE "C" NOT NULL,
    sku        text COLLATE "C" NOT NULL,
    quantity   integer NOT NULL,
    unit_price bigint NOT NULL,
    CONSTRAINT order_item_pkey PRIMARY KEY (order_id, sku),
    CONSTRAINT order_item_order_id_fkey FOREIGN KEY (order_id) REFERENCES customer_order (id),
    CONSTRAINT order_item_quantity_check CHECK (quantity BETWEEN 1 AND 10000),
    CONSTRAINT order_item_unit_price_check CHECK (unit_price >= 0)
);
COMMENT ON TABLE order_item IS 'A line of an order, at the price of its day.';

CREATE TABLE claim_outcome (
    claim_id text COLLATE "C" NOT NULL,
    outcome  text COLLATE "C" NOT NULL,
    order_id text COLLATE "C",
    at       timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT claim_outcome_pkey PRIMARY KEY (claim_id),
    CONSTRAINT claim_outcome_outcome_check CHECK (outcome IN ('committed', 'released')),
    CONSTRAINT claim_outcome_order_id_check CHECK ((outcome = 'committed') = (order_id IS NOT NULL))
);
COMMENT ON TABLE claim_outcome IS 'How the attempt to spend an entry token ended. The first to insert the claim decides.';

CREATE TABLE admission_use (
    admission_id text COLLATE "C" NOT NULL,
    queue        text COLLATE "C" NOT NULL,
    epoch        bigint NOT NULL,
    seq          bigint NOT NULL,
    kind         text COLLATE "C" NOT NULL,
    ref          text COLLATE "C" NOT NULL,
    at           timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT admission_use_pkey PRIMARY KEY (admission_id),
    CONSTRAINT admission_use_kind_check CHECK (kind IN ('order', 'coupon')),
    CONSTRAINT admission_use_numbers_check CHECK (epoch >= 1 AND seq >= 1)
);
COMMENT ON TABLE admission_use IS 'Entry tokens that are spent: each buys one thing, whatever Redis remembers.';
CREATE INDEX admission_use_recovery_idx ON admission_use (queue, epoch, seq);
COMMENT ON INDEX admission_use_recovery_idx IS 'Serves spent_numbers.sql: who is not seated again after Redis lost its memory.';

CREATE TABLE outbox (
    id           bigint GENERATED ALWAYS AS IDENTITY,
    queue        text COLLATE "C" NOT NULL,
    kind         text COLLATE "C" NOT NULL,
    member       text COLLATE "C",
    order_id     text COLLATE "C",
    admission_id text COLLATE "C",
    key_hash     text COLLATE "C",
    attempts     integer NOT NULL DEFAULT 0,
    retry_at     timestamptz,
    created_at   timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT outbox_pkey PRIMARY KEY (id),
    CONSTRAINT outbox_kind_check CHECK (CASE kind
        WHEN 'consume' THEN member IS NOT NULL AND order_id IS NOT NULL
            AND admission_id IS NOT NULL AND key_hash IS NOT NULL
        WHEN 'free_place' THEN member IS NOT NULL AND order_id IS NOT NULL
        WHEN 'sold_out' THEN true
        ELSE false END)
);
COMMENT ON TABLE outbox IS 'What Redis has yet to be told. Rows are deleted once it was; carrying one out twice is harmless.';
COMMENT ON COLUMN outbox.kind IS 'consume: the token is spent; free_place: an unpaid order has ended; sold_out: look again at what is left.';
COMMENT ON COLUMN outbox.retry_at IS 'Taken by a reconcile, which has until then; NULL: never taken.';

CREATE TABLE audit (
    id         bigint GENERATED ALWAYS AS IDENTITY,
    at         timestamptz NOT NULL DEFAULT now(),
    actor      text NOT NULL,
    action     text NOT NULL,
    target     text NOT NULL,
    request_id text NOT NULL DEFAULT '',
    details    jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT audit_pkey PRIMARY KEY (id),
    CONSTRAINT audit_words_check CHECK (actor <> '' AND action <> '' AND target <> '')
);
COMMENT ON TABLE audit IS 'Who changed what and when. Append only.';
COMMENT ON COLUMN audit.target IS 'What was changed, e.g. queue/spring-sale or product/mug.';
CREATE INDEX audit_target_idx ON audit (target, id);
COMMENT ON INDEX audit_target_idx IS 'Serves the operator''s look at one queue or product.';

CREATE FUNCTION audit_is_append_only() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit is append only' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_append_only_trigger BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
