-- Raises the incarnation of a queue.
-- Params: $1 queue, $2 the incarnation that is to be left.
-- Returns: 1 row: the one that holds now, NULL for a queue that is not there.
-- Called by: lib/orders/recovery_store.c.
SELECT raise_incarnation($1, $2)
