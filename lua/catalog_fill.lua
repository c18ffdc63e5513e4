#!lua
-- catalog_fill: a flight brings an object of the catalogue to L2.
--@keys catalog
--@args token generation goOn goodMs staleMs cost exists version etag text
-- token: of the flight; generation: the object's when PostgreSQL was asked; goOn: '1' if the flight computes again
-- should it have been overtaken; goodMs: life of the object; staleMs: how much longer it may be shown where nobody
-- can say anything newer.
-- Returns {STORED, generation, stamp}; {OVERTAKEN, generation, stamp}: it was called outdated meanwhile, and is kept
-- as what may be shown in need; {LOST}: the flight is another's by now, nothing was done.
-- Safe because only the one who flies writes, and nothing that was read before a change is good after it.

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
-- A minute at least: so long the generation is to be remembered.
redis.call('PEXPIRE', key_catalog, math.max(arg_goodMs + arg_staleMs, 60000))
return { current and 'STORED' or 'OVERTAKEN', generation, stamp }
