-- Looks whether anything is left of what a queue sells, and numbers the finding.
-- Params: $1 queue, $2 whether it may open again against its setting.
-- Returns: 0 or 1 row: the finding, its number, when all that is left will be over (ms since 1970, NULL for never), and
--   of its coupon events `event record event record …` (NULL for none).
-- Called by: lib/orders/availability.c.
SELECT sold_out, change, due_ms, coupons
  FROM availability($1, $2)
