-- Creates a show or replaces its data.
-- Params: $1 show, $2 concert, $3 start in ms since 1970, $4 queue, $5 seats a member may have, $6 seconds that a hold
--   lasts, $7 currency (NULL: unchanged), $8 to $12 seats text[], sections text[], rows text[], numbers text[],
--   prices bigint[] (all NULL: the plan stays), $13 actor, $14 request id.
-- Returns: 1 row: created, changed, the queue that the show has left (NULL for none).
-- Called by: lib/database/seats/show_store.c.
SELECT created, changed, left_queue
  FROM put_show($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
