-- 0016_queue_history: how each queue went, minute by minute, and when the cleanup job was last there.
-- Purpose   the console's last hours and the report of an event; Redis keeps the last quarter of an hour only
-- Locks     none
-- Undo      a new migration that drops both tables
--
-- Written by sluice-reconcile from the samples that Redis has, so that a pass which comes minutes late misses nothing.
-- Rows are inserted once and never changed; those older than history_days are deleted.

CREATE TABLE queue_history (
    queue            text COLLATE "C" NOT NULL,
    minute           timestamptz NOT NULL,
    waiting          bigint NOT NULL,
    ready            bigint NOT NULL,
    claimed          bigint NOT NULL,
    entered          bigint NOT NULL,
    admitted         bigint NOT NULL,
    consumed         bigint NOT NULL,
    expired          bigint NOT NULL,
    went             bigint NOT NULL,
    withdrawn        bigint,
    rate_milli       bigint,
    p50_ms           bigint,
    p95_ms           bigint,
    p99_ms           bigint,
    order_errors     bigint,
    promised_seconds bigint,
    actual_seconds   bigint,
    CONSTRAINT queue_history_pkey PRIMARY KEY (queue, minute)
);
COMMENT ON TABLE queue_history IS 'A row a queue and minute: the last sample of that minute. Counters count from the queue''s beginning.';
COMMENT ON COLUMN queue_history.minute IS 'The beginning of the minute, by the clock of Redis.';
COMMENT ON COLUMN queue_history.went IS 'Who left by themselves: left on the wire.';
COMMENT ON COLUMN queue_history.p95_ms IS 'Of orders, as p50_ms and p99_ms the worst of the minute''s samples. NULL, as all from withdrawn on: not known.';
CREATE INDEX queue_history_minute_idx ON queue_history USING brin (minute);
COMMENT ON INDEX queue_history_minute_idx IS 'Serves history_prune.sql.';

CREATE TABLE program_pass (
    program     text COLLATE "C" NOT NULL,
    finished_at timestamptz NOT NULL,
    CONSTRAINT program_pass_pkey PRIMARY KEY (program)
) WITH (fillfactor = 50);
COMMENT ON TABLE program_pass IS 'When a program that comes by now and then last finished, on any host.';
