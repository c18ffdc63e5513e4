-- Issues a coupon to a member, or finds the one that the member has.
-- Params: $1 event, $2 queue, $3 incarnation, $4 epoch, $5 number, $6 member, $7 claim, $8 admission, $9 hash of the event's
--   key, $10 coupon after which to search first, $11 report few_left where fewer than this many are left (0: never),
--   $12 outbox rows to delete: see issue_coupon() for them and for the refusals.
-- Returns: 1 row.
-- Called by: lib/database/coupons/coupon_issue.c.
SELECT outcome, coupon, code, issued_ms, admission_id, few_left, coupon_number, outbox_row
  FROM issue_coupon($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
