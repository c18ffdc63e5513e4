-- service: the tables, views, types and functions after all migrations.
-- Written by scripts/schema from a migrated PostgreSQL: never run, and not to be edited. Changes are new files of sql/migrations.
-- Of functions there is the signature (of those that a constraint calls, all), below the last migration that defines one of
-- this name. Rights: sql/rights.sql.

-- Who changed what and when. Append only.
CREATE TABLE audit (
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    at timestamp with time zone NOT NULL DEFAULT now(),
    -- Who did it: an operator, sluice for the programs themselves, or a login of the database.
    actor text NOT NULL,
    action text NOT NULL,
    -- What was changed, e.g. queue/spring-sale or product/mug.
    target text NOT NULL,
    request_id text NOT NULL DEFAULT ''::text,
    -- The object before and after, or what else was done.
    details jsonb NOT NULL DEFAULT '{}'::jsonb,
    CONSTRAINT audit_pkey PRIMARY KEY (id),
    CONSTRAINT audit_words_check CHECK (actor <> ''::text AND action <> ''::text AND target <> ''::text)
);
-- Serves the operator's look at one queue or product.
CREATE INDEX audit_target_idx ON audit (target, id);
CREATE TRIGGER audit_append_only_trigger BEFORE DELETE OR UPDATE OR TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();

-- When a program that comes by now and then last finished, on any host.
CREATE TABLE program_pass (
    program text COLLATE "C" NOT NULL,
    finished_at timestamp with time zone NOT NULL,
    CONSTRAINT program_pass_pkey PRIMARY KEY (program)
) WITH (fillfactor=50);

-- The migrations that were applied, by scripts/migrate.
CREATE TABLE schema_migration (
    version integer NOT NULL,
    name text NOT NULL,
    -- Of the file as it was applied: it must not change afterwards.
    sha256 text NOT NULL,
    applied_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT schema_migration_pkey PRIMARY KEY (version)
);

-- 0001_tables.sql
-- FUNCTION audit_is_append_only()
--     RETURNS trigger LANGUAGE plpgsql

-- Milliseconds since 1970.
-- 0002_queue_functions.sql
-- FUNCTION epoch_ms(at timestamp with time zone)
--     RETURNS bigint LANGUAGE sql STABLE
