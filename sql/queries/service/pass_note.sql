-- Records that a program has finished a pass, at most once in 5 seconds.
-- Params: $1 program text.
-- Returns: nothing.
-- Called by: lib/database/service/history_store.c
INSERT INTO program_pass AS p (program, finished_at) VALUES ($1, clock_timestamp())
    ON CONFLICT (program) DO UPDATE SET finished_at = excluded.finished_at
 WHERE p.finished_at NOT BETWEEN excluded.finished_at - interval '5 seconds' AND excluded.finished_at;
