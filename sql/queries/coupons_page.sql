-- Who got what of an event.
-- Params: $1 event, $2 behind this member, $3 at most so many.
-- Returns: 0..$3 rows by member: member, code, ms since 1970, epoch, number.
-- Called by: lib/orders/coupon_store.c.
SELECT member, code, epoch_ms(issued_at), epoch, seq
  FROM coupon
 WHERE event = $1 AND member IS NOT NULL AND member > $2
 ORDER BY member
 LIMIT $3::bigint
