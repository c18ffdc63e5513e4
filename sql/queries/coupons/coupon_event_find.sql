-- One coupon event.
-- Params: $1 event, $2 whether to count its coupons (linear in their number).
-- Returns: 0 or 1 row; times in ms since 1970, NULL for none; counts issued and unissued, NULL unless requested.
-- Called by: lib/database/coupons/coupon_store.c.
SELECT id, name, queue, captcha, epoch_ms(opens_at), epoch_ms(ends_at), epoch_ms(created_at),
       epoch_ms(updated_at), epoch_ms(clock_timestamp()),
       CASE WHEN $2::boolean THEN
           (SELECT count(*) FROM coupon c WHERE c.event = e.id AND c.member IS NOT NULL) END,
       CASE WHEN $2::boolean THEN
           (SELECT count(*) FROM coupon c WHERE c.event = e.id AND c.member IS NULL) END
  FROM coupon_event e
 WHERE id = $1
