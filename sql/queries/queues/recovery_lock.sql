-- Takes the lock of recoveries for this connection, until recovery_unlock or the end of the connection. The server ends the
-- connection of a process that makes no call for the given time, so that another one can take the lock.
-- Params: $1 longest pause between two statements, in ms.
-- Returns: 1 row: whether it is taken now; false if another connection has it.
-- Called by: lib/database/queues/recovery_store.c.
SELECT pg_try_advisory_lock(hashtextextended('recovery', 5417)), set_config('idle_session_timeout', $1, false)
