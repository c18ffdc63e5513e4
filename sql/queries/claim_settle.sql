-- Decides a claim whose lease has run out.
-- Params: $1 claim.
-- Returns: 1 row; the last column is the coupon event where the claim has got a coupon. A coupon stays with its event,
--   so it does not matter that the row is read as it was before the wait for the claim's transaction.
-- Called by: lib/orders/claim_settlement.c.
SELECT s.outcome, s.order_id, s.queue, s.member, s.admission_id, s.key_hash, s.keep_place, coupon_event_of(s.order_id)
  FROM settle_claim($1) AS s
