-- Creates a concert or replaces what is said of it.
-- Params: $1 concert, $2 title, $3 venue, $4 description, $5 actor, $6 request id.
-- Returns: 1 row: whether it is new, whether anything changed, the row of the outbox about it (NULL without a change).
-- Called by: lib/orders/show_store.c.
SELECT created, changed, outbox_row
  FROM put_concert($1, $2, $3, $4, $5, $6)
