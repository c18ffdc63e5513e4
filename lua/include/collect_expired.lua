-- collect_expired: what a tick takes away because its time is up, a bounded number of things a call.
-- Needs KEYS state, places, ready, pickup, away, awayUntil, tombstones, tombstoneUntil, seated, and includes queue, places,
-- end_turn.
local CLEANUP = 100 -- things a call, of all kinds together
local cleanup_left, is_cleanup_full = CLEANUP, false

local function run_out(set, moment)
    local found = redis.call('ZRANGEBYSCORE', set, '-inf', moment, 'LIMIT', 0, cleanup_left)
    if #found >= cleanup_left then
        is_cleanup_full = true
    end
    cleanup_left = cleanup_left - #found
    return found
end

-- Members who have not picked the token up, to be set aside with the number even where the token has expired; and those whose
-- token has expired after they had picked it up.
local function over_at(moment)
    local withdrawn = run_out(key_pickup, moment)
    local over = run_out(key_ready, moment)
    local expired = {}
    if #over > 0 then
        local is_withdrawn = {}
        for _, member in ipairs(withdrawn) do
            is_withdrawn[member] = true
        end
        local unseen = redis.call('ZMSCORE', key_pickup, unpack(over))
        for i, member in ipairs(over) do
            if not is_withdrawn[member] then
                local where = unseen[i] and withdrawn or expired
                where[#where + 1] = member
            end
        end
    end
    return withdrawn, expired
end

local function set_aside_together(withdrawn, away_ms)
    if #withdrawn == 0 then
        return
    end
    local numbers, ends = {}, {}
    local until_when = string.format('%.0f', now + away_ms)
    for i, record in ipairs(redis.call('HMGET', key_places, unpack(withdrawn))) do
        local place = record and read_record(record)
        if place then
            numbers[#numbers + 1] = string.format('%d', place.seq * GENERATIONS + place.generation)
            numbers[#numbers + 1] = withdrawn[i]
            ends[#ends + 1] = until_when
            ends[#ends + 1] = withdrawn[i]
        end
    end
    redis.call('ZREM', key_pickup, unpack(withdrawn))
    redis.call('ZREM', key_ready, unpack(withdrawn))
    redis.call('HDEL', key_places, unpack(withdrawn))
    if #numbers > 0 then
        redis.call('ZADD', key_away, unpack(numbers))
        redis.call('ZADD', key_awayUntil, unpack(ends))
    end
end

-- Returns those of them who had a readable place.
local function expire_together(expired)
    if #expired == 0 then
        return expired
    end
    local found = {}
    for i, record in ipairs(redis.call('HMGET', key_places, unpack(expired))) do
        local place = record and read_record(record)
        if place then
            end_turn(place.seq)
            found[#found + 1] = expired[i]
        end
    end
    if #found > 0 then
        redis.call('ZREM', key_ready, unpack(found))
        redis.call('HDEL', key_places, unpack(found))
    end
    return found
end

-- Returns how many tokens have expired, and how many were withdrawn. `moment` is in the time of the virtual clock.
local function collect_expired(moment, away_ms)
    local withdrawn, expired = over_at(moment)
    set_aside_together(withdrawn, away_ms)
    expired = expire_together(expired)
    local gone = run_out(key_awayUntil, now)
    if #gone > 0 then
        redis.call('ZREM', key_away, unpack(gone))
        redis.call('ZREM', key_awayUntil, unpack(gone))
    end
    local stale = run_out(key_tombstoneUntil, now)
    if #stale > 0 then
        redis.call('HDEL', key_tombstones, unpack(stale))
        redis.call('ZREM', key_tombstoneUntil, unpack(stale))
    end
    return #expired, #withdrawn
end
