-- 0014_order_payment: what the member is told of the payment of an order.
-- Purpose   an order says whether it is to be paid, being confirmed, or what became of its money
-- Locks     none
-- Undo      a new migration that drops the function

-- The word for the payment of an order, NULL where there is none, and until when the order may be paid, NULL where
-- it may not. Of several payments it is the one that the order has its goods for, else the one that is open or may
-- hold money, else the last. A session that has run out is CONFIRMING until it was looked up.
-- Volatile: it is asked about an order that the statement itself has just changed.
CREATE FUNCTION order_payment(p_order text) RETURNS TABLE (payment text, pay_until_us bigint)
LANGUAGE plpgsql VOLATILE STRICT ROWS 1 AS $$
BEGIN
    RETURN QUERY SELECT w.word,
        CASE WHEN o.status = 'PENDING_PAYMENT' AND w.word IS DISTINCT FROM 'CONFIRMING' THEN
            (extract(epoch FROM CASE l.state WHEN 'READY' THEN l.session_ends_at
                                ELSE COALESCE(o.pay_until, o.expires_at) END) * 1000000)::bigint END
      FROM customer_order o
      LEFT JOIN LATERAL (
          SELECT p.state, p.session_ends_at
            FROM payment p JOIN payment_state s ON s.name = p.state
           WHERE p.order_id = o.id
           ORDER BY p.pays DESC, s.is_open DESC, s.may_hold_money DESC, p.created_at DESC, p.id
           LIMIT 1) AS l ON true
     CROSS JOIN LATERAL (
          SELECT CASE WHEN l.state IN ('APPROVING', 'UNKNOWN') THEN 'CONFIRMING'
                      WHEN l.state = 'READY' AND l.session_ends_at <= now() THEN 'CONFIRMING'
                      WHEN l.state IN ('STARTING', 'READY') THEN 'OPEN'
                      ELSE l.state END AS word) AS w
     WHERE o.id = p_order;
END $$;
