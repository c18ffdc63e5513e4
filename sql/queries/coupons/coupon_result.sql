-- Public result of a coupon event: no members, no codes.
-- Params: $1 event.
-- Returns: 0 or 1 row: event, queue, opening, end, now, first and last issue in ms since 1970 (NULL for none),
--   coupons issued, coupons left, and the numbers served, by epoch of the queue: `1:1-68,70-71 2:5-5`.
-- Called by: lib/database/coupons/coupon_store.c.
SELECT e.id, e.queue, epoch_ms(e.opens_at), epoch_ms(e.ends_at), epoch_ms(clock_timestamp()),
       epoch_ms(issued.first_at), epoch_ms(issued.last_at), issued.count,
       (SELECT count(*) FROM coupon c WHERE c.event = e.id AND c.member IS NULL), served.ranges
  FROM coupon_event e
 CROSS JOIN LATERAL (
    SELECT min(c.issued_at) AS first_at, max(c.issued_at) AS last_at, count(*) AS count
      FROM coupon c WHERE c.event = e.id AND c.member IS NOT NULL) AS issued
 CROSS JOIN LATERAL (
    SELECT string_agg(of_epoch.ranges, ' ' ORDER BY of_epoch.epoch) AS ranges
      FROM (SELECT run.epoch, run.epoch || ':' ||
                   string_agg(run.first || '-' || run.last, ',' ORDER BY run.first) AS ranges
              FROM (SELECT n.epoch, min(n.seq) AS first, max(n.seq) AS last
                      FROM (SELECT DISTINCT c.epoch, c.seq,
                                   c.seq - dense_rank() OVER (PARTITION BY c.epoch ORDER BY c.seq) AS run
                              FROM coupon c WHERE c.event = e.id AND c.member IS NOT NULL) AS n
                     GROUP BY n.epoch, n.run) AS run
             GROUP BY run.epoch) AS of_epoch) AS served
 WHERE e.id = $1
