#!lua flags=no-writes
-- pool_age: how long ago the order pool showed its last sign of life.
--@global order-pool
-- Returns {OK, ms}, -1 for never.
-- Safe because both times are read from the same clock.
local seen = redis.call('GET', key_order_pool)
if not seen then
    return { 'OK', -1 }
end
local time = redis.call('TIME')
return { 'OK', math.max(time[1] * 1000 + math.floor(time[2] / 1000) - tonumber(seen), 0) }
