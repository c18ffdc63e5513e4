-- The roles of Sluice's programs; run by a superuser of PostgreSQL, before scripts/migrate gives them their rights:
--   psql --file sql/roles.sql
-- `sluice` owns the tables: migrations, backups and restores run as it, and no program reachable from the network does.
-- Each program has its own role, `sluice-PROGRAM`, as named in postgres_conninfo (user=sluice-{program}). They get no
-- passwords here: over a Unix socket PostgreSQL authenticates the system's users of the same names (peer). Idempotent.
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
