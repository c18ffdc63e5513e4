-- orders: the tables, views, types and functions after all migrations.
-- Written by scripts/schema from a migrated PostgreSQL: never run, and not to be edited. Changes are new files of sql/migrations.
-- Of functions there is the signature (of those that a constraint calls, all), below the last migration that defines one of
-- this name. Rights: sql/rights.sql.

-- What is sold. Half of each page is free, so that a sale updates its row in place (HOT).
CREATE TABLE product (
    sku text COLLATE "C" NOT NULL,
    name text NOT NULL,
    -- In the minor unit of currency.
    price_amount bigint NOT NULL,
    -- ISO 4217 code, as all currencies here.
    currency text COLLATE "C" NOT NULL,
    -- All there is, sold and unsold; available is what is left of it.
    stock bigint NOT NULL,
    available bigint NOT NULL,
    queue text COLLATE "C" NOT NULL,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    -- Its price contains no VAT.
    tax_free boolean NOT NULL DEFAULT false,
    CONSTRAINT product_pkey PRIMARY KEY (sku),
    CONSTRAINT product_queue_fkey FOREIGN KEY (queue) REFERENCES queue(id),
    -- Among others: never oversold, never given back twice.
    CONSTRAINT product_whole_check CHECK (product_is_whole(product.*))
) WITH (fillfactor=50);
-- Serves place_order(), and availability(): what a queue sells.
CREATE INDEX product_queue_sku_idx ON product (queue, sku);
CREATE TRIGGER product_audit_trigger AFTER INSERT OR UPDATE OF name, price_amount, currency, tax_free, stock, queue ON product FOR EACH ROW EXECUTE FUNCTION product_audit();

-- An order, and the record of its idempotency key.
CREATE TABLE customer_order (
    id text COLLATE "C" NOT NULL,
    queue text COLLATE "C" NOT NULL,
    member text COLLATE "C" NOT NULL,
    idempotency_key text COLLATE "C" NOT NULL,
    -- SHA-256 of the key, what Redis knows of it.
    key_hash text COLLATE "C" NOT NULL,
    -- SHA-256 of the request in canonical form: tells a repeat from another order under the same key.
    fingerprint text COLLATE "C" NOT NULL,
    -- The admission spent on it: SHA-256 of the entry token. In admission_use.
    admission_id text COLLATE "C" NOT NULL,
    -- The claim it was made under. In claim_outcome.
    claim_id text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    -- In the minor unit of currency; at most 2^53 - 1, what JSON numbers carry.
    total_amount bigint NOT NULL,
    currency text COLLATE "C" NOT NULL,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    -- When it ends if it is not paid by then; NULL once it is paid.
    expires_at timestamp with time zone,
    -- When its quantities went back to stock: exactly the orders that ended unsold have it.
    stock_returned_at timestamp with time zone,
    -- The member's place in the queue stays taken until this order is paid or ends.
    place_held boolean NOT NULL DEFAULT false,
    -- The show whose seats were ordered; NULL for an order of items.
    show text COLLATE "C",
    -- Set by the first payment: what expires_at was before it was raised. No payment begins later.
    pay_until timestamp with time zone,
    CONSTRAINT customer_order_pkey PRIMARY KEY (id),
    -- One order for a member's key. Serves place_order() and order_by_key.sql.
    CONSTRAINT customer_order_member_key UNIQUE (member, idempotency_key),
    CONSTRAINT customer_order_whole_check CHECK (customer_order_is_whole(customer_order.*))
) WITH (fillfactor=80);
-- Serves expire_orders().
CREATE INDEX customer_order_due_idx ON customer_order (expires_at) WHERE (status = 'PENDING_PAYMENT'::text);
-- Serves held_places.sql.
CREATE INDEX customer_order_held_idx ON customer_order (queue, member) WHERE place_held;
-- Serves order_list.sql.
CREATE INDEX customer_order_member_created_idx ON customer_order (member, created_at, id);
CREATE TRIGGER customer_order_seats_paid_trigger AFTER UPDATE OF status ON customer_order FOR EACH ROW WHEN (new.show IS NOT NULL AND new.status = 'PAID'::text AND old.status <> 'PAID'::text) EXECUTE FUNCTION seats_paid();

-- A line of an order, at the price of its day.
CREATE TABLE order_item (
    order_id text COLLATE "C" NOT NULL,
    sku text COLLATE "C" NOT NULL,
    quantity integer NOT NULL,
    -- In the minor unit of the order's currency.
    unit_price bigint NOT NULL,
    CONSTRAINT order_item_pkey PRIMARY KEY (order_id, sku),
    CONSTRAINT order_item_order_id_fkey FOREIGN KEY (order_id) REFERENCES customer_order(id),
    CONSTRAINT order_item_whole_check CHECK (quantity >= 1 AND quantity <= 10000 AND unit_price >= 0)
);

-- Serves order_find.sql, order_list.sql, order_by_key.sql, order_cancel.sql, place_order(), cancel_order().
CREATE VIEW order_view AS
 SELECT o.id,
    o.queue,
    o.status,
    o.total_amount,
    o.currency,
    (EXTRACT(epoch FROM o.created_at) * 1000000::numeric)::bigint AS created_us,
    (EXTRACT(epoch FROM o.expires_at) * 1000000::numeric)::bigint AS expires_us,
    ( SELECT string_agg(concat_ws(':'::text, i.sku, i.quantity, i.unit_price), ' '::text ORDER BY i.sku) AS string_agg
           FROM order_item i
          WHERE i.order_id = o.id) AS items,
    o.place_held,
    o.member,
    o.idempotency_key,
    o.key_hash,
    o.fingerprint,
    o.admission_id,
    o.created_at,
    o.show,
        CASE
            WHEN o.show IS NOT NULL THEN ( SELECT string_agg(concat_ws('	'::text, i.seat, i.unit_price, s.change, s.section, s.row_name, s.number), '
'::text ORDER BY s."position", i.seat) AS string_agg
               FROM order_seat i
                 JOIN seat s ON s.show = i.show AND s.id = i.seat
              WHERE i.order_id = o.id)
            ELSE NULL::text
        END AS seats
   FROM customer_order o;

-- How the attempt to spend an entry token ended. The first to insert the claim decides.
CREATE TABLE claim_outcome (
    claim_id text COLLATE "C" NOT NULL,
    -- committed: an order or a coupon was made; released: nothing was, and nothing will be.
    outcome text COLLATE "C" NOT NULL,
    -- What was made: the id of an order, or a coupon's reference; NULL where released.
    order_id text COLLATE "C",
    at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT claim_outcome_pkey PRIMARY KEY (claim_id),
    CONSTRAINT claim_outcome_whole_check CHECK (claim_outcome_is_whole(claim_outcome.*))
);
-- Serves forget_spent().
CREATE INDEX claim_outcome_at_idx ON claim_outcome USING brin (at);

-- Entry tokens that are spent: each buys one thing, whatever Redis remembers.
CREATE TABLE admission_use (
    -- SHA-256 of the entry token.
    admission_id text COLLATE "C" NOT NULL,
    queue text COLLATE "C" NOT NULL,
    epoch bigint NOT NULL,
    -- The number in the queue, in its epoch, that was let in.
    seq bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    -- What was bought: the id of an order, or a coupon's reference.
    ref text COLLATE "C" NOT NULL,
    at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT admission_use_pkey PRIMARY KEY (admission_id),
    CONSTRAINT admission_use_whole_check CHECK (admission_use_is_whole(admission_use.*))
);
-- Serves spent_numbers.sql: who is not seated again after Redis lost its memory.
CREATE INDEX admission_use_recovery_idx ON admission_use (queue, epoch, seq);

-- What Redis has yet to be told. Rows are deleted once it was; carrying one out twice is harmless.
CREATE TABLE outbox (
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    queue text COLLATE "C",
    -- consume: the token is spent; free_place: an unpaid order has ended; seats: something became of the seats of this order; sold_out: look again at what is left; concert: the catalogue has an older one.
    kind text COLLATE "C" NOT NULL,
    member text COLLATE "C",
    -- Of kind consume also a coupon's reference.
    order_id text COLLATE "C",
    admission_id text COLLATE "C",
    -- SHA-256 of the key under which Redis answers a repeat.
    key_hash text COLLATE "C",
    -- How often a reconcile has taken it.
    attempts integer NOT NULL DEFAULT 0,
    -- Taken by a reconcile, which has until then; NULL: never taken.
    retry_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    -- Of kind concert, which is of no queue.
    concert text COLLATE "C",
    CONSTRAINT outbox_pkey PRIMARY KEY (id),
    CONSTRAINT outbox_whole_check CHECK (outbox_is_whole(outbox.*))
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);

-- 0015_coupon_cost.sql
CREATE OR REPLACE FUNCTION public.admission_use_is_whole(it admission_use)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
BEGIN
    RETURN it.kind IN ('order', 'coupon') AND it.epoch >= 1 AND it.seq >= 1;
END $function$;

-- 0013_payments.sql
-- FUNCTION cancel_order(p_member text, p_order text)
--     RETURNS TABLE(id text, queue text, status text, total_amount bigint, currency text, created_us bigint, expires_us bigint, items text, place_held boolean, came_back boolean) LANGUAGE sql

-- 0015_coupon_cost.sql
CREATE OR REPLACE FUNCTION public.claim_outcome_is_whole(it claim_outcome)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
BEGIN
    RETURN it.outcome = CASE WHEN it.order_id IS NULL THEN 'released' ELSE 'committed' END;
END $function$;

-- 0017_order_cost.sql
CREATE OR REPLACE FUNCTION public.customer_order_is_whole(it customer_order)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
BEGIN
    RETURN it.id ~ '^o_[A-Za-z0-9_-]{22}$'
        AND it.status IN ('PENDING_PAYMENT', 'PAID', 'PAYMENT_FAILED', 'EXPIRED', 'CANCEL_REQUESTED', 'CANCELED')
        AND it.total_amount BETWEEN 0 AND 9007199254740991
        AND (it.status <> 'PENDING_PAYMENT' OR it.expires_at IS NOT NULL)
        AND (it.status IN ('EXPIRED', 'CANCELED', 'PAYMENT_FAILED')) = (it.stock_returned_at IS NOT NULL)
        AND (NOT it.place_held OR it.status = 'PENDING_PAYMENT');
END $function$;

-- Ends unpaid orders whose time is over, except those with an open payment.
-- 0013_payments.sql
-- FUNCTION expire_orders(p_limit bigint)
--     RETURNS TABLE(id text, queue text, member text, place_held boolean) LANGUAGE plpgsql SECURITY DEFINER

-- Ends what is remembered of spent claims and admissions, a bounded piece of it.
-- 0019_spent_ends.sql
-- FUNCTION forget_spent(p_days bigint, p_most bigint, p_redis_ms bigint)
--     RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER

-- Puts back what orders took, which the caller has locked and ends. True where something came back that was nearly or all gone.
-- 0012_seats.sql
-- FUNCTION give_stock_back(p_orders text[])
--     RETURNS boolean LANGUAGE plpgsql

-- The word for the payment of an order, and until when it may be paid; NULL where neither applies.
-- 0014_order_payment.sql
-- FUNCTION order_payment(p_order text)
--     RETURNS TABLE(payment text, pay_until_us bigint) LANGUAGE plpgsql STRICT

-- 0015_coupon_cost.sql
CREATE OR REPLACE FUNCTION public.outbox_is_whole(it outbox)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
BEGIN
    RETURN (it.queue IS NULL) = (it.kind = 'concert') AND CASE it.kind
        WHEN 'consume' THEN num_nulls(it.member, it.order_id, it.admission_id, it.key_hash) = 0
        WHEN 'free_place' THEN it.member IS NOT NULL AND it.order_id IS NOT NULL
        WHEN 'seats' THEN it.order_id IS NOT NULL
        WHEN 'sold_out' THEN true
        WHEN 'concert' THEN it.concert IS NOT NULL
        ELSE false END;
END $function$;

-- Places an order in one transaction, or finds the one that the same key has made. Refusals are errors: 0003_place_order.sql.
-- 0017_order_cost.sql
-- FUNCTION place_order(p_queue text, p_incarnation bigint, p_epoch bigint, p_seq bigint, p_member text, p_key text, p_key_hash text, p_fingerprint text, p_claim text, p_admission text, p_order text, p_skus text[], p_quantities integer[], p_ttl_seconds bigint, p_keep_place boolean, p_show text DEFAULT NULL::text, p_seats text[] DEFAULT NULL::text[], p_told bigint[] DEFAULT NULL::bigint[])
--     RETURNS TABLE(id text, queue text, status text, total_amount bigint, currency text, created_us bigint, expires_us bigint, items text, place_held boolean, replayed boolean, admission_id text, took_last boolean, show text, seats text, outbox_row bigint) LANGUAGE plpgsql SECURITY DEFINER

-- Records a change of a product, in its own transaction. Who makes it is told by the setting sluice.actor of the connection; without it, whoever is logged in to the database.
-- 0002_queue_functions.sql
-- FUNCTION product_audit()
--     RETURNS trigger LANGUAGE plpgsql

-- What the audit keeps of a product.
-- 0013_payments.sql
-- FUNCTION product_for_audit(it product)
--     RETURNS jsonb LANGUAGE sql STABLE

-- 0017_order_cost.sql
CREATE OR REPLACE FUNCTION public.product_is_whole(it product)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
BEGIN
    RETURN it.sku ~ '^[a-z0-9][a-z0-9-]{0,62}$'
        AND char_length(it.name) BETWEEN 1 AND 200
        AND it.price_amount BETWEEN 0 AND 1000000000000
        AND it.currency ~ '^[A-Z]{3}$'
        AND it.stock BETWEEN 0 AND 1000000000
        AND it.available BETWEEN 0 AND it.stock;
END $function$;

-- 0013_payments.sql
-- FUNCTION put_product(p_sku text, p_name text, p_amount bigint, p_currency text, p_stock bigint, p_queue text)
--     RETURNS TABLE(sku text, name text, price_amount bigint, currency text, stock bigint, available bigint, queue text, created boolean) LANGUAGE plpgsql SECURITY DEFINER

-- 0013_payments.sql
-- FUNCTION put_product(p_sku text, p_name text, p_amount bigint, p_currency text, p_stock bigint, p_queue text, p_tax_free boolean)
--     RETURNS TABLE(sku text, name text, price_amount bigint, currency text, stock bigint, available bigint, queue text, created boolean, tax_free boolean) LANGUAGE plpgsql SECURITY DEFINER

-- How a claim ended; one that has not ended is released for good. Waits for a transaction that runs under it.
-- 0010_coupons.sql
-- FUNCTION settle_claim(p_claim text)
--     RETURNS TABLE(outcome text, order_id text, queue text, member text, admission_id text, key_hash text, keep_place boolean) LANGUAGE plpgsql SECURITY DEFINER
