-- Creates a coupon event or replaces its data.
-- Params: $1 event, $2 name, $3 queue, $4 $5 opening and end in ms since 1970 (NULL: none), $6 captcha, $7 actor,
--   $8 request id.
-- Returns: 1 row: created.
-- Called by: lib/database/coupons/coupon_store.c.
SELECT put_coupon_event($1, $2, $3, $4, $5, $6, $7, $8)
