-- What Redis has to know of a queue's coupon events.
-- Params: $1 queue.
-- Returns: 0..500 rows: event, its record (see 0011_coupon_counts), how many are issued, and of how many of those the
--   outbox has yet to tell Redis.
-- Called by: lib/orders/coupon_counts.c, after Redis was read.
SELECT e.id, coupon_record(e), issued.count, untold.count
  FROM live_coupon_events($1) AS e
 CROSS JOIN LATERAL (
    SELECT count(*) FROM coupon c WHERE c.event = e.id AND c.member IS NOT NULL) AS issued
 CROSS JOIN LATERAL (
    SELECT count(*)
      FROM outbox o
      JOIN coupon c ON c.id = CASE WHEN o.order_id LIKE 'c\_%' THEN substr(o.order_id, 3)::bigint END
     WHERE o.queue = $1 AND o.kind = 'consume' AND c.event = e.id) AS untold
