-- The roles of Sluice's programs; run by a superuser of PostgreSQL, before scripts/migrate gives them their rights:
--   psql --file sql/roles.sql
-- `sluice` owns the tables: it migrates, backs up and restores, and no program that the network reaches connects as it.
-- Each program has a role of its own, `sluice-PROGRAM`, as postgres_conninfo names it (user=sluice-{program}). They have no
-- passwords here: by a Unix socket PostgreSQL takes the system's users of the same names (peer). Harmless to repeat.
DO $$
DECLARE
    v_role text;
BEGIN
    FOREACH v_role IN ARRAY ARRAY['sluice', 'sluice-order', 'sluice-payment', 'sluice-operator', 'sluice-catalog',
                                  'sluice-reconcile', 'sluice-scheduler', 'sluice-doctor'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = v_role) THEN
            EXECUTE format('CREATE ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS', v_role);
        END IF;
    END LOOP;
END $$;
