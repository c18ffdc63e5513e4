#!lua
-- gate_watch: counts a visit while the gate only watches, and whether it would have waited.
--@keys settings state watched
--@args member
-- Returns {WATCHED, now, end of the visit in ms}, or NOT_FOUND.
-- The simulated line is a bucket that may go below zero: its deficit is the number of members that would wait.
-- Safe because it only counts: no key of the real line is written.
--@include queue
--@include visit
--@include rate

local watching = hash_fields(key_state, 'watchBucket', 'watchAt', 'watchLongest')
local limits = hash_fields(key_settings, 'maxActive')
local CLEANUP = 200
local over = redis.call('ZRANGEBYSCORE', key_watched, '-inf', now, 'LIMIT', 0, CLEANUP)
if #over > 0 then
    redis.call('ZREM', key_watched, unpack(over))
end
if not redis.call('ZSCORE', key_watched, arg_member) then
    local rate, burst = rate_in_force(), burst_in_force()
    local elapsed = math.max(now - tonumber(watching.watchAt or now), 0)
    local bucket = math.min(burst, tonumber(watching.watchBucket or burst) + elapsed * rate / 1000) - 1
    local active = redis.call('ZCOUNT', key_watched, '(' .. now, '+inf')
    redis.call('HSET', key_state, 'watchBucket', string.format('%.6f', bucket), 'watchAt', now)
    redis.call('HINCRBY', key_state, 'watchVisits', 1)
    if bucket < 0 or active >= tonumber(limits.maxActive) then
        redis.call('HINCRBY', key_state, 'watchWouldWait', 1)
    end
    if -bucket > tonumber(watching.watchLongest or 0) then
        redis.call('HSET', key_state, 'watchLongest', math.ceil(-bucket))
    end
end
local ends = now + ttl_ms + renew_ms
redis.call('ZADD', key_watched, ends, arg_member)
return { 'WATCHED', now, ends }
