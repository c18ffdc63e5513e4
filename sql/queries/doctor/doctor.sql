-- PostgreSQL's settings that sales depend on.
-- Params: none.
-- Returns: version as a number, synchronous_commit (off where it is off for any of our roles), fsync, full_page_writes,
--   max_connections, current connections, whether it is a standby, its clock in ms since 1970, the standbys that a commit
--   waits for.
-- Called by: sluicectl/doctor/doctor_postgres.c
SELECT current_setting('server_version_num'),
       CASE WHEN EXISTS (
           SELECT FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole
            WHERE r.rolname LIKE 'sluice%' AND s.setconfig @> ARRAY['synchronous_commit=off'])
       THEN 'off' ELSE current_setting('synchronous_commit') END,
       current_setting('fsync'),
       current_setting('full_page_writes'), current_setting('max_connections'),
       (SELECT count(*) FROM pg_stat_activity), pg_is_in_recovery(), epoch_ms(clock_timestamp()),
       current_setting('synchronous_standby_names');
