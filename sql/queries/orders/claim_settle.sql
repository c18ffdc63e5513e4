-- Decides a claim whose lease has expired.
-- Params: $1 claim.
-- Returns: 1 row; the last column is the event of the coupon that the claim was committed for, if any. A coupon never changes
--   its event, so a snapshot from before the wait for the claim's transaction is good enough.
-- Called by: lib/database/orders/claim_settlement.c.
SELECT s.outcome, s.order_id, s.queue, s.member, s.admission_id, s.key_hash, s.keep_place, coupon_event_of(s.order_id)
  FROM settle_claim($1) AS s
