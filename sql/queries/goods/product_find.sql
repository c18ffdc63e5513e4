-- One product.
-- Params: $1 sku.
-- Returns: 0 or 1 row.
-- Called by: lib/database/goods/product_store.c.
SELECT sku, name, price_amount, currency, stock, available, queue, false AS created, tax_free
  FROM product
 WHERE sku = $1
