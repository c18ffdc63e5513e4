-- Releases the lock of recovery_lock, and with it the limit of pauses.
-- Params: none.
-- Returns: 1 row.
-- Called by: lib/database/queues/recovery_store.c.
SELECT pg_advisory_unlock(hashtextextended('recovery', 5417)), set_config('idle_session_timeout', '0', false)
