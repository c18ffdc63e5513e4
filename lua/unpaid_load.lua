#!lua
-- unpaid_load: before a queue that lost its memory comes back: the places that unpaid orders hold.
--@keys settings unpaid
--@args
-- then member, order id, member, order id, …
-- Returns {LOADED}, or {PRESENT} where the queue is there already.
-- Safe because it acts only while the queue is not there: no place can have been freed meanwhile.
if redis.call('EXISTS', key_settings) == 1 then
    return { 'PRESENT' }
end
redis.call('HSET', key_unpaid, unpack(ARGV))
return { 'LOADED' }
