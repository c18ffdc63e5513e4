-- The rights of each program in the database; run by scripts/migrate after the migrations, as the owner of the tables, in a
-- separate transaction. Every role gets exactly these rights and loses all others. Roles that do not exist (sql/roles.sql
-- creates them) are skipped: all programs may still connect as the owner.
--
-- Writes that must be consistent with each other go through a function that runs with the owner's rights (SECURITY DEFINER,
-- 0018_roles.sql): a program may call it, but not write its tables. Functions that run with the caller's rights are open to
-- all: they do nothing that the caller could not do without them.
-- tests/integration/security/test_rights.py compares this with the queries that each program's code can reach.
DO $$
DECLARE
    v_row record;
    v_role text;
    v_name text;
    v_function regprocedure;
BEGIN
    EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    -- Databases created before PostgreSQL 15 let every role create functions in the schema where ours are searched.
    REVOKE CREATE ON SCHEMA public FROM PUBLIC;
    FOR v_function IN SELECT p.oid FROM pg_proc p
                       WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef AND p.prokind = 'f' LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', v_function);
    END LOOP;
    FOR v_role IN SELECT r.rolname FROM pg_roles r
                   WHERE r.rolname IN ('sluice-order', 'sluice-payment', 'sluice-operator', 'sluice-catalog',
                                       'sluice-reconcile', 'sluice-scheduler', 'sluice-doctor') LOOP
        EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA public FROM %I', v_role);
        EXECUTE format('REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM %I', v_role);
        EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA public FROM %I', v_role);
        EXECUTE format('GRANT USAGE ON SCHEMA public TO %I', v_role);
        EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), v_role);
    END LOOP;
    FOR v_row IN
        SELECT * FROM (VALUES
            ('order', 'EXECUTE', 'availability issue_coupon place_order'),
            ('order', 'SELECT', 'concert coupon coupon_event order_seat order_view payment_state seat seat_state show'),
            ('order', 'SELECT (id, deleted_at)', 'queue'),
            ('order', 'SELECT (id, status, pay_until, expires_at)', 'customer_order'),
            ('order', 'SELECT (id, order_id, state, session_ends_at, pays, created_at)', 'payment'),
            ('order', 'SELECT (id), DELETE', 'outbox'),

            ('payment', 'EXECUTE', 'availability order_cancel payment_approve_begin payment_approve_undo '
                'payment_cancel_refused payment_canceled payment_hint payment_note payment_open payment_paid payment_ready '
                'payment_start_failed payment_stop payment_unknown payment_unpaid'),
            ('payment', 'SELECT', 'customer_order order_seat payment payment_state seat_state show'),
            ('payment', 'SELECT (id), DELETE', 'outbox'),

            ('operator', 'EXECUTE', 'availability payment_look put_concert put_coupon_event put_product put_show queue_act '
                'queue_delete queue_write'),
            ('operator', 'SELECT', 'audit concert coupon coupon_event payment payment_event product program_pass queue_code '
                'queue_code_use queue_history queue_record seat seat_state show'),
            ('operator', 'INSERT (actor, action, target, request_id, details)', 'audit'),
            ('operator', 'INSERT', 'queue_code'),
            ('operator', 'INSERT (event, code)', 'coupon'),
            ('operator', 'SELECT (id, created_at), INSERT (queue, kind), DELETE', 'outbox'),

            -- It holds a lottery's draw, and stores it before publishing it.
            ('scheduler', 'EXECUTE', 'lottery_put_down'),
            ('scheduler', 'SELECT', 'queue_record'),

            ('catalog', 'SELECT', 'concert seat seat_state show'),

            ('reconcile', 'EXECUTE', 'availability codes_note_uses expire_orders forget_spent lottery_put_down '
                'payment_cancel_refused payment_canceled payment_note payment_paid payment_start_failed payment_unpaid payments_due '
                'raise_incarnation settle_claim'),
            ('reconcile', 'SELECT', 'admission_use coupon coupon_event customer_order order_seat payment payment_state product '
                'program_pass queue queue_code queue_code_use queue_history queue_record seat seat_state show'),
            ('reconcile', 'SELECT, UPDATE (attempts, retry_at), DELETE', 'outbox'),
            ('reconcile', 'UPDATE (seq_checkpoint, version)', 'queue'),
            ('reconcile', 'UPDATE (version)', 'show'),
            ('reconcile', 'INSERT, DELETE', 'queue_history'),
            ('reconcile', 'INSERT, UPDATE (finished_at)', 'program_pass')
        ) AS rights (program, privileges, names)
    LOOP
        v_role := 'sluice-' || v_row.program;
        CONTINUE WHEN NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = v_role);
        FOREACH v_name IN ARRAY string_to_array(v_row.names, ' ') LOOP
            IF v_row.privileges = 'EXECUTE' THEN
                FOR v_function IN SELECT p.oid FROM pg_proc p
                                   WHERE p.pronamespace = 'public'::regnamespace AND p.proname = v_name LOOP
                    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', v_function, v_role);
                END LOOP;
            ELSE
                EXECUTE format('GRANT %s ON public.%I TO %I', v_row.privileges, v_name, v_role);
            END IF;
        END LOOP;
    END LOOP;
END $$;
