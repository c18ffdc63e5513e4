-- Creates a product or replaces its data.
-- Params: $1 sku, $2 name, $3 price, $4 currency, $5 stock, $6 queue, $7 whether its price contains no VAT.
-- Returns: 1 row.
-- Called by: lib/database/goods/product_store.c.
SELECT sku, name, price_amount, currency, stock, available, queue, created, tax_free
  FROM put_product($1, $2, $3, $4, $5, $6, $7)
