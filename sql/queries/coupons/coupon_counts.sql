-- A queue's coupon events as Redis must know them.
-- Params: $1 queue.
-- Returns: 0..500 rows: event, its record (see 0011_coupon_counts), coupons issued, and how many of those the outbox has
--   not published yet.
-- Called by: lib/database/coupons/coupon_counts.c, after Redis was read.
SELECT event, record, issued, untold
  FROM coupon_counts($1)
