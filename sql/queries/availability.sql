-- Looks whether anything is left of what a queue sells, and numbers the finding.
-- Params: $1 queue, $2 whether it may open again against its setting.
-- Returns: 0 or 1 row.
-- Called by: lib/orders/availability.c.
SELECT sold_out, change
  FROM availability($1, $2)
