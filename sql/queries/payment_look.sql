-- Has a payment looked at soon.
-- Params: $1 payment text.
-- Returns: whether it will be; no row where there is no such payment.
-- Called by: lib/orders/payment_admin.c
SELECT will_be FROM payment_look($1);
