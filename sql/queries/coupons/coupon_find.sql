-- A member's coupon of an event.
-- Params: $1 event, $2 member.
-- Returns: 0 or 1 row.
-- Called by: lib/database/coupons/coupon_store.c.
SELECT 'c_' || id, code, epoch_ms(issued_at), admission_id
  FROM coupon
 WHERE event = $1 AND member = $2
