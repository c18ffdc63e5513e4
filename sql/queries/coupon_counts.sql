-- What Redis has to know of a queue's coupon events.
-- Params: $1 queue.
-- Returns: 0..500 rows: event, its record (see 0011_coupon_counts), how many are issued, and of how many of those the
--   outbox has yet to tell Redis.
-- Called by: lib/orders/coupon_counts.c, after Redis was read.
SELECT event, record, issued, untold
  FROM coupon_counts($1)
