-- Ends unpaid orders that have expired.
-- Params: $1 limit.
-- Returns: 0..$1 rows.
-- Called by: lib/database/orders/order_store.c.
SELECT id, queue, member, place_held
  FROM expire_orders($1)
