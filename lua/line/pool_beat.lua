#!lua
-- pool_beat: the order pool's heartbeat.
--@global order-pool
--@args silence
-- silence: a pause of more than this many ms between two heartbeats was an outage; 0: never.
-- Returns {OK}.
-- Safe because a pause is measured by Redis TIME and added to the total in the step that ends it: a reader of the total
-- misses no outage, however rarely it reads.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local seen = tonumber(redis.call('HGET', key_order_pool, 'seen') or now)
local silence = tonumber(arg_silence)
if silence > 0 and now - seen > silence then
    redis.call('HINCRBY', key_order_pool, 'silentMs', now - seen)
end
redis.call('HSET', key_order_pool, 'seen', now)
return { 'OK' }
