-- What is sold, by pages.
-- Params: $1 behind this SKU text, $2 at most so many rows bigint.
-- Returns: SKU, and the product as JSON, in order of the SKUs.
-- Called by: lib/orders/object_pages.c.
SELECT sku,
       json_build_object(
           'sku', sku, 'name', name, 'price', json_build_object('amount', price_amount, 'currency', currency),
           'taxFree', tax_free, 'stock', stock, 'available', available, 'queue', queue)
  FROM product
 WHERE sku > $1
 ORDER BY sku
 LIMIT $2::bigint
