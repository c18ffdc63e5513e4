-- Which of these orders hold a place.
-- Params: $1 order ids as an array.
-- Returns: 0..n rows.
-- Called by: lib/database/queues/recovery_store.c.
SELECT id
  FROM customer_order
 WHERE id = ANY ($1::text[]) AND place_held
