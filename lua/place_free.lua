#!lua
-- place_free: the payment of an order has ended: its member's place is free for the next one.
--@keys settings state unpaid
--@args member order
-- Returns {FREED}, {ALREADY}, or NOT_FOUND.
-- Safe because it names the order: a late one never frees the place of a newer order.
--@include queue
--@include unpaid

return { give_place_up(arg_member, arg_order) and 'FREED' or 'ALREADY' }
