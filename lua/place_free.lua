#!lua
-- place_free: the payment of an order has ended: its member's place is free for the next one.
--@keys settings state unpaid
--@args member order
-- Returns {FREED}, {ALREADY}, or NOT_FOUND.
-- Safe because it names the order: a late one never frees the place of a newer order.
--@include queue

if redis.call('HGET', key_unpaid, arg_member) ~= arg_order then
    return { 'ALREADY' }
end
redis.call('HDEL', key_unpaid, arg_member)
return { 'FREED' }
