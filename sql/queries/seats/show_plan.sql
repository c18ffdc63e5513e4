-- The plan of a show, in its order, for operators.
-- Params: $1 show.
-- Returns: a row for each seat: id, section, row, number, price.
-- Called by: lib/database/seats/show_store.c.
SELECT id, section, row_name, number, price_amount
  FROM seat
 WHERE show = $1
 ORDER BY position, id
