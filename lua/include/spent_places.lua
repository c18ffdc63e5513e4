-- spent_places: in a recovery that keeps the line, removes the places of spent numbers. The pages note the numbers in
-- `seatedNext`; when the last page has come, the places are looked through once, in bounded steps.
-- Needs KEYS state, places, ready, pickup, claimed, seatedNext, ARGS incarnation, epoch and includes places, spent_bits.
local PLACES_AT_ONCE = 500
local OVERLAP = 100

local function note_spent(seq, is_counted)
    local spent, counted = bits_of(seq)
    redis.call('SETBIT', key_seatedNext, spent, 1)
    if is_counted then
        redis.call('SETBIT', key_seatedNext, counted, 1)
    end
end

-- Returns by how much `consumed` grows. A CLAIMED place stays, and the settling of its claim counts it.
local function settle_place(member, place)
    local spent, counted = bits_of(place.seq)
    if redis.call('GETBIT', key_seatedNext, spent) == 0 then
        return 0
    elseif place.claim ~= '' then
        return -redis.call('SETBIT', key_seatedNext, counted, 0)
    end
    redis.call('ZREM', key_pickup, member)
    redis.call('ZREM', key_ready, member)
    redis.call('HDEL', key_places, member)
    return 1 - redis.call('SETBIT', key_seatedNext, counted, 1)
end

-- Looks at the members of `set` before rank `from`, from the last to the first: what is removed meanwhile hides none of those
-- to come, and what a late release adds moves them by less than the steps overlap. Returns the next `from`, 0 at the end, and
-- by how much `consumed` grows.
local function settle_some(set, from)
    local first = math.max(from - PLACES_AT_ONCE, 0)
    local members = from > 0 and redis.call('ZRANGE', set, first, from - 1) or {}
    local records = #members > 0 and redis.call('HMGET', key_places, unpack(members)) or {}
    local grows = 0
    for i, member in ipairs(members) do
        local place = records[i] and read_record(records[i])
        if place then
            grows = grows + settle_place(member, place)
        end
    end
    return first > 0 and first + OVERLAP or 0, grows
end

-- One step; returns whether it was the last one. preparedPlaces is the incarnation and epoch of the preparation, then the ranks
-- at which READY and CLAIMED places continue.
local function settle_places()
    local ours = arg_incarnation .. '/' .. arg_epoch
    local known, ready, claimed = string.match(redis.call('HGET', key_state, 'preparedPlaces') or '', '^(%S+) (%d+) (%d+)$')
    if known ~= ours then
        ready, claimed = redis.call('ZCARD', key_ready), redis.call('ZCARD', key_claimed)
    end
    local of_ready, of_claimed
    ready, of_ready = settle_some(key_ready, tonumber(ready))
    claimed, of_claimed = settle_some(key_claimed, tonumber(claimed))
    redis.call('HSET', key_state, 'preparedPlaces', string.format('%s %d %d', ours, ready, claimed))
    redis.call('HINCRBY', key_state, 'consumed', of_ready + of_claimed)
    return ready == 0 and claimed == 0
end
