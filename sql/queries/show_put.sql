-- Creates a show or replaces what is said of it.
-- Params: $1 show, $2 concert, $3 start in ms since 1970, $4 queue, $5 most seats of a member, $6 seconds that a hold
--   lasts, $7 currency (NULL: as before), $8 to $12 seats text[], sections text[], rows text[], numbers text[],
--   prices bigint[] (all NULL: the seats stay), $13 actor, $14 request id.
-- Returns: 1 row: whether it is new, whether anything changed, the queue that it left (NULL: none).
-- Called by: lib/orders/show_store.c.
SELECT created, changed, left_queue
  FROM put_show($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
