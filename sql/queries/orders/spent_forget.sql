-- Deletes records of spent claims and admissions that no request can refer to any more, at most $2 a call.
-- Params: $1 days bigint, $2 limit bigint, $3 Redis TIME in ms bigint.
-- Returns: 1 row: number of records deleted.
-- Called by: lib/database/orders/claim_settlement.c.
SELECT forget_spent($1, $2, $3)
