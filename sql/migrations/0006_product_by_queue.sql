-- 0006_product_by_queue: an index that finds a product of a queue exactly.
-- Purpose   place_order() looks for queue and SKU at once. While the table has no statistics yet, an index
--           on the queue alone looked as good to the planner as the primary key, and each sale then read
--           every product of its queue
-- Locks     ACCESS EXCLUSIVE on product while the index is built, < 1 s (products are few)
-- Undo      a new migration that restores product_queue_idx
CREATE INDEX product_queue_sku_idx ON product (queue, sku);
COMMENT ON INDEX product_queue_sku_idx IS 'Serves place_order(), and availability(): what a queue sells.';
DROP INDEX product_queue_idx;
