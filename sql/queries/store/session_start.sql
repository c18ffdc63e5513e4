-- Prepares a new connection.
-- Params: $1 statement_timeout, $2 lock_timeout, both in ms.
-- Returns: 1 row.
-- Called by: lib/store/postgres.c.
SELECT set_config('statement_timeout', $1, false),
       set_config('lock_timeout', $2, false),
       set_config('idle_in_transaction_session_timeout', '5000', false),
       set_config('client_connection_check_interval', '1000', false),
       set_config('default_transaction_isolation', 'read committed', false)
