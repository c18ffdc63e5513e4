-- 0018_roles: what programs do to several tables at once, they do with the owner's rights.
-- Purpose   a role a program (sql/roles.sql) that may call these functions, and not write their tables
-- Locks     none
-- Undo      a new migration with SECURITY INVOKER RESET search_path
--
-- A function that runs with other rights than its caller's must not find the caller's tables under the names of its own.
DO $$
DECLARE
    v_function regprocedure;
BEGIN
    FOR v_function IN
        SELECT p.oid FROM pg_proc p
         WHERE p.pronamespace = 'public'::regnamespace
           AND p.proname IN ('availability', 'codes_note_uses', 'count_coupons', 'expire_orders', 'issue_coupon',
                             'lottery_put_down', 'order_cancel', 'payment_approve_begin', 'payment_approve_undo',
                             'payment_cancel_refused', 'payment_canceled', 'payment_hint', 'payment_look', 'payment_note',
                             'payment_open', 'payment_paid', 'payment_ready', 'payment_start_failed', 'payment_stop',
                             'payment_unknown', 'payment_unpaid', 'payments_due', 'place_order', 'put_concert',
                             'put_coupon_event', 'put_product', 'put_show', 'queue_act', 'queue_delete', 'queue_write',
                             'raise_incarnation', 'settle_claim') LOOP
        EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = public, pg_temp', v_function);
    END LOOP;
END $$;
