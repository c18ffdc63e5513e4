#!lua
-- catalog_outdate: an object of the catalogue has changed in PostgreSQL.
--@keys catalog
--@args channel name
-- Returns {OUTDATED, generation}. What L2 has is no longer good; it stays as what may be shown in need. Every host
-- hears `name generation`.
-- Safe because a flight that read the old brings it under the generation before, see catalog_fill. Generations go
-- by Redis' time, so that they grow on also after Redis has forgotten the last one.

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
