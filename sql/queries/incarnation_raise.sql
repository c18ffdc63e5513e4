-- Raises the incarnation of a queue.
-- Params: $1 queue, $2 the incarnation to end; a queue that has left it already stays as it is.
-- Returns: 1 row: the current incarnation, NULL for a queue that does not exist.
-- Called by: lib/orders/queues/recovery_store.c.
SELECT raise_incarnation($1, $2)
