-- 0007_held_places: the places that unpaid orders hold, by queue.
-- Purpose   an index to find them: recovery gives them back to Redis, reconcile compares them
-- Locks     SHARE on customer_order while the index is built: no orders meanwhile
-- Undo      a new migration that drops the index

CREATE INDEX customer_order_held_idx ON customer_order (queue, member) WHERE place_held;
COMMENT ON INDEX customer_order_held_idx IS 'Serves held_places.sql.';
