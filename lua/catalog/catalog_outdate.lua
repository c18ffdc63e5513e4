#!lua
-- catalog_outdate: an object of the catalogue has changed in PostgreSQL.
--@keys catalog
--@args channel name
-- Returns {OUTDATED, generation}. The object in L2 becomes stale; every host gets `name generation` on `channel`.
-- Safe because a flight that read the old row stores it under the old generation, see catalog_fill. Generations are at least
-- Redis TIME in µs, so they rise even after Redis has lost the last one.

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local generation = string.format('%.0f',
    math.max(now, tonumber(redis.call('HGET', key_catalog, 'generation') or 0) + 1))
redis.call('HSET', key_catalog, 'generation', generation, 'until', '0')
if redis.call('PTTL', key_catalog) < 60000 then
    redis.call('PEXPIRE', key_catalog, 60000)
end
redis.call('PUBLISH', arg_channel, arg_name .. ' ' .. generation)
return { 'OUTDATED', generation }
