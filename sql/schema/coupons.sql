-- coupons: the tables, views, types and functions after all migrations.
-- Written by scripts/schema from a migrated PostgreSQL: never run, and not to be edited. Changes are new files of sql/migrations.
-- Of functions there is the signature (of those that a constraint calls, all), below the last migration that defines one of
-- this name. Rights: sql/rights.sql.

-- A pool of coupons and when they are given out. Never deleted.
CREATE TABLE coupon_event (
    id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    queue text COLLATE "C" NOT NULL,
    -- First moment of issuing by this server's clock; NULL: at once.
    opens_at timestamp with time zone,
    -- First moment at which nothing is issued any more; NULL: never.
    ends_at timestamp with time zone,
    -- What a request for a coupon has to bring: none, altcha (proof of work) or siteverify (a provider's token).
    captcha text COLLATE "C" NOT NULL DEFAULT 'none'::text,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    -- How many rows of coupon are its own, issued or not; kept by count_coupons().
    coupons bigint NOT NULL DEFAULT 0,
    CONSTRAINT coupon_event_pkey PRIMARY KEY (id),
    CONSTRAINT coupon_event_queue_fkey FOREIGN KEY (queue) REFERENCES queue(id),
    CONSTRAINT coupon_event_captcha_check CHECK (captcha = ANY (ARRAY['none'::text, 'altcha'::text, 'siteverify'::text])),
    CONSTRAINT coupon_event_id_check CHECK (id ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text),
    CONSTRAINT coupon_event_name_check CHECK (char_length(name) >= 1 AND char_length(name) <= 200),
    CONSTRAINT coupon_event_time_check CHECK (opens_at < ends_at)
);
-- Serves queue_goods(): what is given out through a queue.
CREATE INDEX coupon_event_queue_idx ON coupon_event (queue);

-- A coupon, as good as money: shown to its member and to operators alone. Vacuumed often: whoever takes the next one passes what is gone.
CREATE TABLE coupon (
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    event text COLLATE "C" NOT NULL,
    -- What the member redeems.
    code text COLLATE "C" NOT NULL,
    -- Whose it is; NULL: not issued.
    member text COLLATE "C",
    -- The admission spent on it. In admission_use.
    admission_id text COLLATE "C",
    epoch bigint,
    -- The number in the queue, and its epoch, with which it was got.
    seq bigint,
    issued_at timestamp with time zone,
    CONSTRAINT coupon_pkey PRIMARY KEY (id),
    CONSTRAINT coupon_code_key UNIQUE (event, code),
    CONSTRAINT coupon_event_fkey FOREIGN KEY (event) REFERENCES coupon_event(id),
    CONSTRAINT coupon_issued_check CHECK (num_nulls(member, admission_id, epoch, seq, issued_at) = ANY (ARRAY[0, 5]))
) WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);
-- One a member. Serves coupon_find.sql and coupons_page.sql.
CREATE UNIQUE INDEX coupon_member_key ON coupon (event, member) WHERE (member IS NOT NULL);
-- Serves issue_coupon() and coupons_left(): what is left, the oldest first.
CREATE INDEX coupon_unissued_idx ON coupon (event, ((id + 0))) WHERE (member IS NULL);
CREATE TRIGGER coupon_added AFTER INSERT ON coupon REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_coupons();
CREATE TRIGGER coupon_code_trigger AFTER INSERT ON coupon REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION coupon_codes_are_valid();
CREATE TRIGGER coupon_removed AFTER DELETE ON coupon REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_coupons();

-- 0011_coupon_counts.sql
-- FUNCTION count_coupons()
--     RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER

-- 0015_coupon_cost.sql
-- FUNCTION coupon_codes_are_valid()
--     RETURNS trigger LANGUAGE plpgsql

-- 0011_coupon_counts.sql
-- FUNCTION coupon_counts(p_queue text)
--     RETURNS TABLE(event text, record text, issued bigint, untold bigint) LANGUAGE plpgsql STABLE

-- Of which event the coupon is that a claim or the outbox names; NULL for an order.
-- 0011_coupon_counts.sql
-- FUNCTION coupon_event_of(p_ref text)
--     RETURNS text LANGUAGE plpgsql STABLE

-- 0011_coupon_counts.sql
-- FUNCTION coupon_record(p_event coupon_event)
--     RETURNS text LANGUAGE sql STABLE

-- Whether any coupon is unissued, one that a running transaction has taken included.
-- 0010_coupons.sql
-- FUNCTION coupons_left(p_event text)
--     RETURNS boolean LANGUAGE plpgsql

-- 0015_coupon_cost.sql
-- FUNCTION issue_coupon(p_event text, p_queue text, p_incarnation bigint, p_epoch bigint, p_seq bigint, p_member text, p_claim text, p_admission text, p_key_hash text, p_behind bigint DEFAULT 0, p_few bigint DEFAULT 32, p_told bigint[] DEFAULT NULL::bigint[], OUT outcome text, OUT coupon text, OUT code text, OUT issued_ms bigint, OUT admission_id text, OUT few_left boolean, OUT coupon_number bigint, OUT outbox_row bigint)
--     RETURNS record LANGUAGE plpgsql SECURITY DEFINER

-- The events that Redis is told of: until a day after their end, the newest first.
-- 0011_coupon_counts.sql
-- FUNCTION live_coupon_events(p_queue text)
--     RETURNS SETOF coupon_event LANGUAGE sql STABLE

-- Creates an event or replaces what is said of it. True for a new one.
-- 0010_coupons.sql
-- FUNCTION put_coupon_event(p_id text, p_name text, p_queue text, p_opens_ms bigint, p_ends_ms bigint, p_captcha text, p_actor text, p_request_id text)
--     RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
