#!lua
-- place_free: frees the place that an order held until the end of its payment.
--@keys settings state unpaid
--@args member order
-- Returns {FREED}, {ALREADY}, or NOT_FOUND.
-- Safe because it names the order: a late call never frees the place of a newer order, and a repeat frees nothing.
--@include queue
--@include unpaid

return { give_place_up(arg_member, arg_order) and 'FREED' or 'ALREADY' }
