-- Whether any coupon of an event is unissued; one taken by an uncommitted transaction counts as unissued.
-- Params: $1 event.
-- Returns: 1 row.
-- Called by: lib/database/coupons/coupon_store.c, in a snapshot of its own.
SELECT coupons_left($1)
