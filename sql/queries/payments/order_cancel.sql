-- Cancels a member's order, or begins its refund.
-- Params: $1 member, $2 order.
-- Returns: 0 or 1 row.
-- Called by: lib/database/payments/payment_store.c.
SELECT (c.o).id, (c.o).queue, (c.o).status, (c.o).total_amount, (c.o).currency, (c.o).created_us,
       (c.o).expires_us, (c.o).items, (c.o).place_held, (c.o).show, (c.o).seats, p.payment, p.pay_until_us,
       c.place_freed, c.came_back, c.payment_id
  FROM order_cancel($1, $2) AS c LEFT JOIN LATERAL order_payment((c.o).id) AS p ON true
