-- One page of an event's issued coupons.
-- Params: $1 event, $2 coupons of members after this one, $3 limit.
-- Returns: 0..$3 rows by member: member, code, ms since 1970, epoch, number.
-- Called by: lib/database/coupons/coupon_store.c.
SELECT member, code, epoch_ms(issued_at), epoch, seq
  FROM coupon
 WHERE event = $1 AND member IS NOT NULL AND member > $2
 ORDER BY member
 LIMIT $3::bigint
