#!lua
-- catalog_read: one object of the catalogue from L2, and who is to compute it where that is due.
--@keys catalog
--@args token host lockUs draw known fly
-- token: of the flight, if it becomes ours; host: begins the tokens of our host where a flight of it is known to be
-- dead, '' where that is not known; lockUs: a flight takes no longer; draw: how many times its cost before its end an
-- object is due (see lib/catalog/xfetch.h); known: the stamp whose text the caller has; fly: '1' if the caller would
-- compute it.
-- Returns {state, flight, generation, stamp, µs until due for all, µs it may be shown, cost µs, exists, version,
-- etag, text}. state: NONE (nothing kept), GOOD, DUE (run out, or drawn early), OLD (called outdated). flight: NO (not
-- due, or not wanted), MINE, OTHER. text: '' where the caller has it.
-- Safe because looking and taking the flight are one step; a flight that nobody ends is over after lockUs. Times are
-- Redis' own, and only lengths of time leave it.

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
