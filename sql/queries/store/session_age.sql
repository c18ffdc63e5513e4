-- The server's timeline: of two primaries, the one with the higher timeline was promoted later.
-- Params: none.
-- Returns: 1 row: the cluster's identifier; the timeline, 0 on a standby.
-- Called by: lib/store/postgres_hosts.c.
SELECT (SELECT system_identifier FROM pg_control_system())::text,
       CASE WHEN pg_is_in_recovery() THEN 0
            ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int END
