-- Finds whether anything is left of a queue's goods, and numbers the finding.
-- Params: $1 queue, $2 whether the queue may reopen whatever its setting `reopen` is, $3 where not 0: only if the last finding
--   has a lower number than this, and with a higher one.
-- Returns: 0 or 1 row: sold out, change number, when all that is left will have ended (ms since 1970, NULL for never), and
--   its coupon events as `event record event record …` (NULL for none).
-- Called by: lib/database/goods/availability.c.
SELECT sold_out, change, due_ms, coupons
  FROM availability($1, $2, $3)
