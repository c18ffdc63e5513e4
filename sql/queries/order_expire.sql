-- Ends unpaid orders whose time is over.
-- Params: $1 at most so many.
-- Returns: 0..$1 rows.
-- Called by: lib/orders/order_store.c.
SELECT id, queue, member, place_held
  FROM expire_orders($1)
