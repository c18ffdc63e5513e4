-- Deletes outbox rows that have been carried out.
-- Params: $1 their ids.
-- Returns: 0 rows.
-- Called by: lib/database/outbox/outbox_store.c.
DELETE FROM outbox
 WHERE id = ANY ($1::bigint[])
