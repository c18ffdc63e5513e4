-- 0009_codes: invite and priority codes of a queue.
-- Purpose   what Redis counts while people enter is known here, so that it survives the loss of Redis's memory
-- Locks     ACCESS EXCLUSIVE on queue for a moment, to add a trigger
-- Undo      a new migration that drops them

CREATE TABLE queue_code (
    queue      text COLLATE "C" NOT NULL,
    code_hash  text COLLATE "C" NOT NULL,
    kind       text COLLATE "C" NOT NULL,
    uses       integer NOT NULL,
    used       integer NOT NULL DEFAULT 0,
    expires_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT queue_code_pkey PRIMARY KEY (queue, code_hash),
    CONSTRAINT queue_code_queue_fkey FOREIGN KEY (queue) REFERENCES queue (id),
    CONSTRAINT queue_code_hash_check CHECK (code_hash ~ '^[A-Za-z0-9_-]{43}$'),
    CONSTRAINT queue_code_kind_check CHECK (kind IN ('invite', 'priority')),
    CONSTRAINT queue_code_uses_check CHECK (uses >= 1 AND used >= 0)
);
COMMENT ON TABLE queue_code IS 'Codes that let someone in or into the priority lane, by their hash alone.';
COMMENT ON COLUMN queue_code.used IS 'Members who have used it, as far as Redis has told.';

CREATE TABLE queue_code_use (
    queue     text COLLATE "C" NOT NULL,
    code_hash text COLLATE "C" NOT NULL,
    member    text COLLATE "C" NOT NULL,
    at        timestamptz NOT NULL,
    CONSTRAINT queue_code_use_pkey PRIMARY KEY (queue, code_hash, member),
    CONSTRAINT queue_code_use_code_fkey FOREIGN KEY (queue, code_hash)
        REFERENCES queue_code (queue, code_hash) ON DELETE CASCADE
);
COMMENT ON TABLE queue_code_use IS 'Who has used which code: once a member, however often it is sent.';

CREATE FUNCTION codes_note_uses(p_queue text, p_hashes text[], p_members text[], p_at_ms bigint[])
RETURNS bigint
LANGUAGE sql AS $$
    WITH told AS (
        SELECT * FROM unnest(p_hashes, p_members, p_at_ms) AS use (code_hash, member, at_ms)
    ), noted AS (
        INSERT INTO queue_code_use (queue, code_hash, member, at)
        SELECT p_queue, told.code_hash, told.member, to_timestamp(told.at_ms / 1000.0)
        FROM told JOIN queue_code AS known
            ON known.queue = p_queue AND known.code_hash = told.code_hash
        ORDER BY told.code_hash, told.member
        ON CONFLICT DO NOTHING RETURNING code_hash
    ), counted AS (
        SELECT code_hash, count(*) AS count FROM noted GROUP BY code_hash
    ), updated AS (
        UPDATE queue_code SET used = used + counted.count
        FROM counted WHERE queue_code.queue = p_queue AND queue_code.code_hash = counted.code_hash
        RETURNING 1
    )
    SELECT count(*) FROM updated
$$;
COMMENT ON FUNCTION codes_note_uses IS
    'Notes uses that Redis has counted; telling one twice is the same as once. Returns how many codes changed.';

CREATE FUNCTION codes_forget() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM queue_code WHERE queue = NEW.id;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION codes_forget IS 'A deleted queue takes its codes along.';
CREATE TRIGGER queue_codes_trigger AFTER UPDATE OF deleted_at ON queue
    FOR EACH ROW WHEN (NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION codes_forget();
