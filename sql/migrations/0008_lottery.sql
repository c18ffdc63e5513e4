-- 0008_lottery: the draw of a queue in mode lottery, and the secret that it hangs on.
-- Purpose   a draw is committed to before anybody enters, put down before anybody sees a place of it, and
--           never held a second time, whatever Redis forgets
-- Locks     ACCESS EXCLUSIVE on queue for a moment, to add a trigger
-- Undo      a new migration that drops them

CREATE TABLE lottery (
    queue     text COLLATE "C" NOT NULL,
    epoch     bigint NOT NULL,
    secret    text COLLATE "C" NOT NULL,
    list_hash text COLLATE "C",
    ranges    text COLLATE "C",
    seed      text COLLATE "C",
    drawn_at  timestamptz,
    CONSTRAINT lottery_pkey PRIMARY KEY (queue, epoch),
    CONSTRAINT lottery_queue_fkey FOREIGN KEY (queue) REFERENCES queue (id),
    CONSTRAINT lottery_secret_check CHECK (secret ~ '^[0-9a-f]{64}$'),
    CONSTRAINT lottery_list_hash_check CHECK (list_hash ~ '^[0-9a-f]{40}$'),
    CONSTRAINT lottery_ranges_check CHECK (ranges ~ '^[0-9]+-[0-9]+(,[0-9]+-[0-9]+)*$'),
    CONSTRAINT lottery_seed_check CHECK (seed ~ '^[0-9a-f]{64}$'),
    CONSTRAINT lottery_drawn_check CHECK ((drawn_at IS NULL) = (seed IS NULL)
        AND (drawn_at IS NULL) = (list_hash IS NULL) AND (drawn_at IS NULL) = (ranges IS NULL))
);
COMMENT ON TABLE lottery IS 'One draw an epoch of a queue: a reset is the only way to another.';
COMMENT ON COLUMN lottery.secret IS 'Its SHA-256 is public from the beginning, itself from the draw on.';
COMMENT ON COLUMN lottery.list_hash IS 'Hash of the closed list of those who entered before the opening.';
COMMENT ON COLUMN lottery.ranges IS 'Their numbers, like 1-500,900-950.';
COMMENT ON COLUMN lottery.seed IS 'HMAC-SHA-256 of the list under the secret: what the places follow from.';

-- Two random UUIDs hold 244 random bits.
CREATE FUNCTION lottery_commit() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO lottery (queue, epoch, secret)
    VALUES (NEW.id, NEW.epoch,
        replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''))
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION lottery_commit IS
    'Draws the secret in the transaction that makes a queue a lottery, once an epoch: nobody can try another.';
CREATE TRIGGER queue_lottery_trigger AFTER INSERT OR UPDATE OF settings, epoch ON queue
    FOR EACH ROW WHEN (NEW.settings ->> 'mode' = 'lottery') EXECUTE FUNCTION lottery_commit();

CREATE OR REPLACE VIEW queue_record AS
SELECT id, settings, operator_state, queue.epoch, incarnation, version, seq_checkpoint, sold_out,
    sold_out_change, epoch_ms(created_at) AS created_at_ms, epoch_ms(updated_at) AS updated_at_ms,
    deleted_at IS NOT NULL AS deleted, epoch_ms(clock_timestamp()) AS now_ms,
    lottery.secret AS lottery_secret,
    lottery.seed || ' ' || lottery.list_hash || ' ' || lottery.ranges AS lottery_draw
FROM queue LEFT JOIN lottery ON lottery.queue = queue.id AND lottery.epoch = queue.epoch;

CREATE FUNCTION lottery_put_down(p_queue text, p_epoch bigint, p_list_hash text, p_ranges text,
    p_seed text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM queue WHERE id = p_queue AND epoch = p_epoch AND deleted_at IS NULL FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE lottery SET list_hash = p_list_hash, ranges = p_ranges, seed = p_seed, drawn_at = now()
    WHERE queue = p_queue AND epoch = p_epoch AND drawn_at IS NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE queue SET version = version + 1, updated_at = now() WHERE id = p_queue;
    INSERT INTO audit (actor, action, target, details)
    VALUES ('sluice', 'draw', 'queue/' || p_queue, jsonb_build_object('epoch', p_epoch,
        'listHash', p_list_hash, 'ranges', p_ranges, 'seed', p_seed));
    RETURN true;
END $$;
COMMENT ON FUNCTION lottery_put_down IS
    'Puts the draw of this epoch down, once; the raised version brings it to Redis. False where it was put down '
    'before, or the epoch is over.';
