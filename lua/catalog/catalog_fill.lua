#!lua
-- catalog_fill: a flight (the one computation of an object that may run at a time) stores its object in L2.
--@keys catalog
--@args token generation goOn goodMs staleMs cost exists version etag text
-- token: the flight's; generation: the object's before PostgreSQL was queried; goOn: '1' if the flight computes again
-- where it was overtaken; goodMs: how long the object is fresh; staleMs: how much longer it may be served while nothing
-- newer can be read.
-- Returns {STORED, generation, stamp}; {OVERTAKEN, generation, stamp}: the object was outdated meanwhile and is stored as
-- stale; {LOST}: another flight has taken over, nothing was written.
-- Safe because only the flight whose token is recorded writes, and catalog_outdate raises the generation: an object read
-- before a change is never stored as fresh after it.

local kept = redis.call('HMGET', key_catalog, 'generation', 'stamp', 'owner')
if kept[3] ~= arg_token then
    return { 'LOST' }
end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local generation = kept[1] or '0'
local current = generation == arg_generation
local stamp = string.format('%.0f', math.max(now, tonumber(kept[2] or 0) + 1))
local good_until = current and now + arg_goodMs * 1000 or 0

redis.call('HSET', key_catalog, 'stamp', stamp, 'until', string.format('%.0f', good_until),
    'staleUntil', string.format('%.0f', now + (arg_goodMs + arg_staleMs) * 1000), 'cost', arg_cost,
    'exists', arg_exists, 'version', arg_version, 'etag', arg_etag, 'text', arg_text)
if current or arg_goOn ~= '1' then
    redis.call('HDEL', key_catalog, 'owner', 'ownerUntil')
end
-- The generation must be kept for at least a minute.
redis.call('PEXPIRE', key_catalog, math.max(arg_goodMs + arg_staleMs, 60000))
return { current and 'STORED' or 'OVERTAKEN', generation, stamp }
