-- Strikes rows of the outbox that were carried out.
-- Params: $1 their ids.
-- Returns: 0 rows.
-- Called by: lib/orders/outbox_store.c.
DELETE FROM outbox
 WHERE id = ANY ($1::bigint[])
