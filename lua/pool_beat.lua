#!lua
-- pool_beat: the order pool's sign of life.
--@global order-pool
--@args silence
-- silence: from how many ms on a pause between two signs was an outage; 0: none ever is.
-- Returns {OK}.
-- Safe because a pause is measured by one clock and added up in the step that ends it: no reader can
-- miss an outage, however long it looked away.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local seen = tonumber(redis.call('HGET', key_order_pool, 'seen') or now)
local silence = tonumber(arg_silence)
if silence > 0 and now - seen > silence then
    redis.call('HINCRBY', key_order_pool, 'silentMs', now - seen)
end
redis.call('HSET', key_order_pool, 'seen', now)
return { 'OK' }
