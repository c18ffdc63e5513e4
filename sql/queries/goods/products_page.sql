-- One page of products.
-- Params: $1 products after this SKU text, $2 limit bigint.
-- Returns: 0..$2 rows by SKU: SKU, the product as JSON.
-- Called by: lib/database/goods/object_pages.c.
SELECT sku,
       json_build_object(
           'sku', sku, 'name', name, 'price', json_build_object('amount', price_amount, 'currency', currency),
           'taxFree', tax_free, 'stock', stock, 'available', available, 'queue', queue)
  FROM product
 WHERE sku > $1
 ORDER BY sku
 LIMIT $2::bigint
