-- Forgets spent claims and admissions that nothing can come back to, a bounded piece of them.
-- Params: $1 days bigint, $2 at most so many bigint, $3 the moment by Redis's clock, in ms, bigint.
-- Returns: 1 row: how many.
-- Called by: lib/orders/claim_settlement.c.
SELECT forget_spent($1, $2, $3)
