#!lua
-- catalog_read: reads one object of the catalogue from L2, and takes the flight that recomputes it where that is due.
--@keys catalog
--@args token host lockUs draw known fly
-- token: names the flight if the caller gets it; host: prefix of this host's tokens if its last flight is known to have
-- died, else ''; lockUs: lease of a flight; draw: an object is due this many times its cost before it expires (see
-- lib/catalog/xfetch.h); known: stamp of the text that the caller has; fly: '1' if the caller can compute the object.
-- Returns {state, flight, generation, stamp, µs until it expires, µs it may be served stale, cost µs, exists, version,
-- etag, text}. state: NONE (not cached), GOOD, DUE (expired, or due early by draw), OLD (outdated). flight: NO (not
-- due, or fly is not '1'), MINE, OTHER. text: '' where the caller has it.
-- Safe because checking and taking the flight are one step, and a flight that never ends expires after lockUs. All times
-- are Redis TIME; only durations are returned.

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local kept = redis.call('HMGET', key_catalog, 'generation', 'stamp', 'until', 'staleUntil', 'cost', 'exists',
    'version', 'etag', 'owner', 'ownerUntil')
local stamp, good_until, cost = kept[2] or '0', tonumber(kept[3] or 0), tonumber(kept[5] or 0)
local left = good_until - now

local state = 'GOOD'
if stamp == '0' then
    state = 'NONE'
elseif good_until == 0 then
    state = 'OLD'
elseif left <= 0 or left <= cost * tonumber(arg_draw) then
    state = 'DUE'
end

local flight = 'NO'
if state ~= 'GOOD' and arg_fly == '1' then
    local owner = kept[9] or ''
    local dead = arg_host ~= '' and string.sub(owner, 1, #arg_host) == arg_host
    if owner ~= '' and tonumber(kept[10]) > now and not dead then
        flight = 'OTHER'
    else
        flight = 'MINE'
        redis.call('HSET', key_catalog, 'owner', arg_token, 'ownerUntil', string.format('%.0f', now + arg_lockUs))
        local lock_ms = math.ceil(arg_lockUs / 1000) + 1
        if redis.call('PTTL', key_catalog) < lock_ms then
            redis.call('PEXPIRE', key_catalog, lock_ms)
        end
    end
end

local text = ''
if stamp ~= '0' and stamp ~= arg_known then
    text = redis.call('HGET', key_catalog, 'text') or ''
end
return { state, flight, kept[1] or '0', stamp, string.format('%.0f', math.max(left, 0)),
    string.format('%.0f', math.max(tonumber(kept[4] or 0) - now, 0)), kept[5] or '0', kept[6] or '0',
    kept[7] or '0', kept[8] or '', text }
