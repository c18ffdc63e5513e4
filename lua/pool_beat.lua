#!lua
-- pool_beat: the order pool's sign of life.
--@global order-pool
-- Returns {OK}.
-- Safe because it only ever moves forward by Redis TIME.
local time = redis.call('TIME')
redis.call('SET', key_order_pool, time[1] * 1000 + math.floor(time[2] / 1000))
return { 'OK' }
