-- Asks whether the server answers and commits: where it waits for a standby, a commit that has waited for long says that
-- the standby is gone, and no order is acknowledged until it is back. Those of our own role are seen.
-- Params: none.
-- Returns: 1 row: whether it does.
-- Called by: lib/store/postgres.c.
SELECT NOT EXISTS (SELECT FROM pg_stat_activity
                    WHERE wait_event = 'SyncRep' AND query_start < clock_timestamp() - interval '1 s')
