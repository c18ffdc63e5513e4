-- Creates a concert or replaces its data.
-- Params: $1 concert, $2 title, $3 venue, $4 description, $5 actor, $6 request id.
-- Returns: 1 row: created, changed, id of the outbox row (NULL without a change).
-- Called by: lib/database/seats/show_store.c.
SELECT created, changed, outbox_row
  FROM put_concert($1, $2, $3, $4, $5, $6)
