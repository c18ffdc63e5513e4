-- Checks that the server answers and commits: with synchronous replication, a commit that has waited for more than 1 s shows
-- that the standby is gone, and no order is acknowledged until it is back. Only sessions of the same role are visible.
-- Params: none.
-- Returns: 1 row: whether it does.
-- Called by: lib/store/postgres.c.
SELECT NOT EXISTS (SELECT FROM pg_stat_activity
                    WHERE wait_event = 'SyncRep' AND query_start < clock_timestamp() - interval '1 s')
