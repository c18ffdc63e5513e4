-- The goods of a queue, and how much of each is left.
-- Params: $1 queue text, $2 limit bigint.
-- Returns: kind, id, name, total, left, whether it has a price.
-- Called by: lib/database/service/service_figures.c
SELECT g.* FROM (
    SELECT 'coupon-event', e.id, e.name, e.coupons,
           (SELECT count(*) FROM coupon c WHERE c.event = e.id AND c.member IS NULL), false
      FROM coupon_event e WHERE e.queue = $1
    UNION ALL
    SELECT 'product', p.sku, p.name, p.stock, p.available, p.price_amount > 0
      FROM product p WHERE p.queue = $1
    UNION ALL
    SELECT 'show', s.id, c.title, seats.count, seats.untaken, COALESCE(seats.costs, false)
      FROM show s JOIN concert c ON c.id = s.concert
     CROSS JOIN LATERAL (
        SELECT count(*) AS count, count(*) FILTER (WHERE NOT t.taken) AS untaken, bool_or(t.price_amount > 0) AS costs
          FROM seat t WHERE t.show = s.id) AS seats
     WHERE s.queue = $1) AS g (kind, id, name, total, untaken, costs)
 ORDER BY g.kind, g.id
 LIMIT $2::bigint;
