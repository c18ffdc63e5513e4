-- Whether any coupon of an event is unissued; one taken by an uncommitted transaction counts as unissued.
-- Params: $1 event.
-- Returns: 1 row.
-- Called by: lib/orders/coupons/coupon_store.c, in a snapshot of its own.
SELECT coupons_left($1)
