-- Decides a claim whose lease has run out.
-- Params: $1 claim.
-- Returns: 1 row.
-- Called by: lib/orders/claim_settlement.c.
SELECT outcome, order_id, queue, member, admission_id, key_hash, keep_place
  FROM settle_claim($1)
