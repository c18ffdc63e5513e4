-- queues: the tables, views, types and functions after all migrations.
-- Written by scripts/schema from a migrated PostgreSQL: never run, and not to be edited. Changes are new files of sql/migrations.
-- Of functions there is the signature (of those that a constraint calls, all), below the last migration that defines one of
-- this name. Rights: sql/rights.sql.

-- A waiting room. Never deleted: deleted_at marks its end.
CREATE TABLE queue (
    id text COLLATE "C" NOT NULL,
    -- Settings by their wire names; what is left out takes its default.
    settings jsonb NOT NULL,
    -- What operators have said last; whether the queue is open follows from it, opensAt, closesAt and sold_out.
    operator_state text NOT NULL DEFAULT 'OPEN'::text,
    -- Raised by reset only: tickets of an older epoch are void.
    epoch bigint NOT NULL DEFAULT 1,
    -- Raised when Redis lost its memory, under the exclusive lock of raise_incarnation().
    incarnation bigint NOT NULL DEFAULT 1,
    -- Raised by every change that Redis has to hear of.
    version bigint NOT NULL DEFAULT 1,
    -- A place number seen in Redis; recovery starts above it.
    seq_checkpoint bigint NOT NULL DEFAULT 0,
    -- Last finding of availability().
    sold_out boolean NOT NULL DEFAULT false,
    -- Number of that finding: Redis ignores an older one.
    sold_out_change bigint NOT NULL DEFAULT 0,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    deleted_at timestamp with time zone,
    CONSTRAINT queue_pkey PRIMARY KEY (id),
    CONSTRAINT queue_id_check CHECK (id ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text),
    CONSTRAINT queue_numbers_check CHECK (epoch >= 1 AND incarnation >= 1 AND version >= 1 AND seq_checkpoint >= 0 AND sold_out_change >= 0),
    CONSTRAINT queue_operator_state_check CHECK (operator_state = ANY (ARRAY['OPEN'::text, 'PAUSED'::text, 'DRAINING'::text, 'SOLD_OUT'::text])),
    CONSTRAINT queue_settings_check CHECK (jsonb_typeof(settings) = 'object'::text)
);
CREATE TRIGGER queue_codes_trigger AFTER UPDATE OF deleted_at ON queue FOR EACH ROW WHEN (new.deleted_at IS NOT NULL) EXECUTE FUNCTION codes_forget();
CREATE TRIGGER queue_lottery_trigger AFTER INSERT OR UPDATE OF settings, epoch ON queue FOR EACH ROW WHEN ((new.settings ->> 'mode'::text) = 'lottery'::text) EXECUTE FUNCTION lottery_commit();

-- A queue as the programs read it: queue_store.h.
CREATE VIEW queue_record AS
 SELECT queue.id,
    queue.settings,
    queue.operator_state,
    queue.epoch,
    queue.incarnation,
    queue.version,
    queue.seq_checkpoint,
    queue.sold_out,
    queue.sold_out_change,
    epoch_ms(queue.created_at) AS created_at_ms,
    epoch_ms(queue.updated_at) AS updated_at_ms,
    queue.deleted_at IS NOT NULL AS deleted,
    epoch_ms(clock_timestamp()) AS now_ms,
    lottery.secret AS lottery_secret,
    (((lottery.seed || ' '::text) || lottery.list_hash) || ' '::text) || lottery.ranges AS lottery_draw
   FROM queue
     LEFT JOIN lottery ON lottery.queue = queue.id AND lottery.epoch = queue.epoch;

-- One draw an epoch of a queue: a reset is the only way to another.
CREATE TABLE lottery (
    queue text COLLATE "C" NOT NULL,
    epoch bigint NOT NULL,
    -- Its SHA-256 is public from the beginning, itself from the draw on.
    secret text COLLATE "C" NOT NULL,
    -- Hash of the closed list of those who entered before the opening.
    list_hash text COLLATE "C",
    -- Their numbers, like 1-500,900-950.
    ranges text COLLATE "C",
    -- HMAC-SHA-256 of the list under the secret: what the places follow from.
    seed text COLLATE "C",
    drawn_at timestamp with time zone,
    CONSTRAINT lottery_pkey PRIMARY KEY (queue, epoch),
    CONSTRAINT lottery_queue_fkey FOREIGN KEY (queue) REFERENCES queue(id),
    CONSTRAINT lottery_drawn_check CHECK ((drawn_at IS NULL) = (seed IS NULL) AND (drawn_at IS NULL) = (list_hash IS NULL) AND (drawn_at IS NULL) = (ranges IS NULL)),
    CONSTRAINT lottery_list_hash_check CHECK (list_hash ~ '^[0-9a-f]{40}$'::text),
    CONSTRAINT lottery_ranges_check CHECK (ranges ~ '^[0-9]+-[0-9]+(,[0-9]+-[0-9]+)*$'::text),
    CONSTRAINT lottery_secret_check CHECK (secret ~ '^[0-9a-f]{64}$'::text),
    CONSTRAINT lottery_seed_check CHECK (seed ~ '^[0-9a-f]{64}$'::text)
);

-- Codes that let someone in or into the priority lane, by their hash alone.
CREATE TABLE queue_code (
    queue text COLLATE "C" NOT NULL,
    code_hash text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    uses integer NOT NULL,
    -- Members who have used it, as far as Redis has told.
    used integer NOT NULL DEFAULT 0,
    expires_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT queue_code_pkey PRIMARY KEY (queue, code_hash),
    CONSTRAINT queue_code_queue_fkey FOREIGN KEY (queue) REFERENCES queue(id),
    CONSTRAINT queue_code_hash_check CHECK (code_hash ~ '^[A-Za-z0-9_-]{43}$'::text),
    CONSTRAINT queue_code_kind_check CHECK (kind = ANY (ARRAY['invite'::text, 'priority'::text])),
    CONSTRAINT queue_code_uses_check CHECK (uses >= 1 AND used >= 0)
);

-- Who has used which code: once a member, however often it is sent.
CREATE TABLE queue_code_use (
    queue text COLLATE "C" NOT NULL,
    code_hash text COLLATE "C" NOT NULL,
    member text COLLATE "C" NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT queue_code_use_pkey PRIMARY KEY (queue, code_hash, member),
    CONSTRAINT queue_code_use_code_fkey FOREIGN KEY (queue, code_hash) REFERENCES queue_code(queue, code_hash) ON DELETE CASCADE
);

-- A row a queue and minute: the last sample of that minute. Counters count from the queue's beginning.
CREATE TABLE queue_history (
    queue text COLLATE "C" NOT NULL,
    -- The beginning of the minute, by the clock of Redis.
    minute timestamp with time zone NOT NULL,
    waiting bigint NOT NULL,
    ready bigint NOT NULL,
    claimed bigint NOT NULL,
    entered bigint NOT NULL,
    admitted bigint NOT NULL,
    consumed bigint NOT NULL,
    expired bigint NOT NULL,
    -- Who left by themselves: left on the wire.
    went bigint NOT NULL,
    withdrawn bigint,
    -- Rate in force, in members per 1000 seconds.
    rate_milli bigint,
    p50_ms bigint,
    -- Of orders, as p50_ms and p99_ms the worst of the minute's samples. NULL, as all from withdrawn on: not known.
    p95_ms bigint,
    p99_ms bigint,
    -- Orders that failed or timed out, counted as the others.
    order_errors bigint,
    -- Wait promised to the last member let in; actual_seconds is what became of it.
    promised_seconds bigint,
    actual_seconds bigint,
    CONSTRAINT queue_history_pkey PRIMARY KEY (queue, minute)
);
-- Serves history_prune.sql.
CREATE INDEX queue_history_minute_idx ON queue_history USING brin (minute);

-- 0023_goods_findings.sql
-- FUNCTION availability(p_queue text, p_reopen boolean)
--     RETURNS TABLE(sold_out boolean, change bigint, due_ms bigint, coupons text) LANGUAGE sql SECURITY DEFINER

-- Finds whether anything is left of a queue's goods, and numbers the finding, under the queue's row lock. p_reopen: even if the setting reopen is false. p_above, where not 0: a number that Redis has; nothing is done where PostgreSQL has given it, else the finding gets a higher one.
-- 0023_goods_findings.sql
-- FUNCTION availability(p_queue text, p_reopen boolean, p_above bigint)
--     RETURNS TABLE(sold_out boolean, change bigint, due_ms bigint, coupons text) LANGUAGE plpgsql SECURITY DEFINER

-- A deleted queue takes its codes along.
-- 0009_codes.sql
-- FUNCTION codes_forget()
--     RETURNS trigger LANGUAGE plpgsql

-- Notes uses that Redis has counted; telling one twice is the same as once. Returns how many codes changed.
-- 0009_codes.sql
-- FUNCTION codes_note_uses(p_queue text, p_hashes text[], p_members text[], p_at_ms bigint[])
--     RETURNS bigint LANGUAGE sql SECURITY DEFINER

-- When all that is left of what a queue sells will be over by itself; NULL: not all of it ever, or nothing is left.
-- 0012_seats.sql
-- FUNCTION goods_end(p_queue text)
--     RETURNS timestamp with time zone LANGUAGE plpgsql

-- Draws the secret in the transaction that makes a queue a lottery, once an epoch: nobody can try another.
-- 0008_lottery.sql
-- FUNCTION lottery_commit()
--     RETURNS trigger LANGUAGE plpgsql

-- Puts the draw of this epoch down, once; the raised version brings it to Redis. False where it was put down before, or the epoch is over.
-- 0008_lottery.sql
-- FUNCTION lottery_put_down(p_queue text, p_epoch bigint, p_list_hash text, p_ranges text, p_seed text)
--     RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER

-- pause, resume, drain, sold-out, reset. Outcome: changed, same, missing.
-- 0002_queue_functions.sql
-- FUNCTION queue_act(p_id text, p_action text, p_actor text, p_request_id text, OUT outcome text, OUT shown queue_record)
--     RETURNS record LANGUAGE plpgsql SECURITY DEFINER

-- Records one change, in its own transaction.
-- 0002_queue_functions.sql
-- FUNCTION queue_audit(actor text, action text, request_id text, old queue, new queue)
--     RETURNS void LANGUAGE sql

-- Marks the end of a queue: its row stays, for its orders and its numbers. Outcome: changed, missing.
-- 0021_queue_versions.sql
-- FUNCTION queue_delete(p_id text, p_actor text, p_request_id text, OUT outcome text, OUT shown queue_record)
--     RETURNS record LANGUAGE plpgsql SECURITY DEFINER

-- Marks the end of a queue: its row stays, for its orders and its numbers. p_version, where not NULL, must be the stored one. Outcome: changed, stale (nothing done), missing.
-- 0021_queue_versions.sql
-- FUNCTION queue_delete(p_id text, p_version bigint, p_actor text, p_request_id text, OUT outcome text, OUT shown queue_record)
--     RETURNS record LANGUAGE plpgsql SECURITY DEFINER

-- What the audit keeps of a queue; NULL where there was none.
-- 0002_queue_functions.sql
-- FUNCTION queue_for_audit(it queue)
--     RETURNS jsonb LANGUAGE sql STABLE

-- Whether anything is sold or given out through a queue, and whether anything of it is left.
-- 0012_seats.sql
-- FUNCTION queue_goods(p_queue text, OUT sells boolean, OUT is_left boolean)
--     RETURNS record LANGUAGE plpgsql

-- The advisory lock of a queue: shared by whoever spends an admission of it, exclusive for raising its incarnation.
-- 0003_place_order.sql
-- FUNCTION queue_lock_number(p_queue text)
--     RETURNS bigint LANGUAGE sql IMMUTABLE STRICT

-- Stores settings, complete as they are. p_create makes the queue where there is none, and brings a deleted one back under a new epoch. p_version, where not NULL, must be the stored one. Outcome: created, changed, same, stale (nothing done), missing.
-- 0023_goods_findings.sql
-- FUNCTION queue_write(p_id text, p_version bigint, p_create boolean, p_settings jsonb, p_actor text, p_request_id text, OUT outcome text, OUT shown queue_record)
--     RETURNS record LANGUAGE plpgsql SECURITY DEFINER

-- lock_timeout is off: the wait is bounded by statement_timeout, here and in every order that it waits for.
-- 0003_place_order.sql
-- FUNCTION raise_incarnation(p_queue text, p_expected bigint)
--     RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
