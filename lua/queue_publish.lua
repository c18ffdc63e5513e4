#!lua
-- queue_publish: brings a queue's settings from PostgreSQL into Redis, and with them pause, reset and
-- recovery.
--@keys settings state waiting away awayUntil places ready pickup claimed unpaid departures tombstones tombstoneUntil seated series
--@args version epoch incarnation seqFloor recoveryMs
-- then field, value, field, value, … of the settings hash (which hold version, epoch and incarnation
-- once more). seqFloor: no number up to it is given out; recoveryMs: how long a queue that lost its memory
-- waits before it promotes.
-- Returns {PUBLISHED}, {OLDER}.
-- Safe because an older version that arrives late changes nothing, and because a new epoch empties the
-- line in the same step that names it: no ticket of the old one is ever looked up in the new line.
local FIRST_FIELD = 6
local known = redis.call('HGET', key_settings, 'version')
if known and tonumber(known) >= tonumber(arg_version) then
    return { 'OLDER' }
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local state = redis.call('HMGET', key_state, 'incarnation', 'epoch', 'seq')
local fields = {}
for i = FIRST_FIELD, #ARGV do
    fields[#fields + 1] = ARGV[i]
end
redis.call('DEL', key_settings)
redis.call('HSET', key_settings, unpack(fields))

local function empty_the_line()
    redis.call('UNLINK', key_waiting, key_away, key_awayUntil, key_places, key_ready, key_pickup, key_claimed,
        key_unpaid, key_departures, key_tombstones, key_tombstoneUntil, key_seated, key_series)
end

if redis.call('HGET', key_settings, 'deleted') == '1' then
    empty_the_line()
    redis.call('DEL', key_state)
    return { 'PUBLISHED' }
end
if not state[1] or state[1] ~= arg_incarnation then
    -- New here, or Redis lost its memory: an empty bucket keeps the rate true across the loss.
    redis.call('HSET', key_state, 'incarnation', arg_incarnation, 'epoch', arg_epoch, 'bucketAt', now,
        'bucket', arg_incarnation == '1' and redis.call('HGET', key_settings, 'burst') or '0',
        'seq', math.max(tonumber(state[3] or 0), tonumber(arg_seqFloor)),
        'recoveringUntil', tonumber(arg_recoveryMs) > 0 and now + tonumber(arg_recoveryMs) or 0)
elseif state[2] ~= arg_epoch then
    empty_the_line()
    redis.call('HSET', key_state, 'epoch', arg_epoch, 'seq', 0, 'prunedTo', 0)
end
return { 'PUBLISHED' }
