-- Which of these members have a coupon of an event.
-- Params: $1 event, $2 members text[].
-- Returns: 0..n rows: the positions in $2, from 0.
-- Called by: lib/database/coupons/coupon_counts.c, after Redis was read.
SELECT given.n - 1
  FROM unnest($2::text[]) WITH ORDINALITY AS given (member, n)
 WHERE EXISTS (SELECT FROM coupon c WHERE c.event = $1 AND c.member = given.member)
 ORDER BY given.n
