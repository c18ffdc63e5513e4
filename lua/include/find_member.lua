-- find_member: where a member stands. Checks the entry token first, then the line, then those set aside.
-- Needs KEYS places, ready, pickup, waiting, priority, draw, drawn, away, awayUntil, state, seated (and those
-- that the functions called touch) and includes queue, places, end_turn, set_aside, draw, lanes, find_in_line.
-- Kinds: CLAIMED, READY (with .deadline), EXPIRED (picked up, past its deadline, not collected by a tick yet), WAITING,
-- AWAY, NONE. An expired place that was not picked up is set aside: AWAY.
local function find_member(member)
    local place = place_of(member)
    if place then
        if place.claim ~= '' then
            return 'CLAIMED', place
        end
        place.deadline = tonumber(redis.call('ZSCORE', key_ready, member) or 0)
        if is_alive(place.deadline) then
            return 'READY', place
        elseif redis.call('ZSCORE', key_pickup, member) then
            set_aside(member, place, tonumber(run.awayMs or 0))
        else
            return 'EXPIRED', place
        end
    end
    local it = find_in_line(member)
    if it then
        return 'WAITING', it
    end
    local score = tonumber(redis.call('ZSCORE', key_away, member))
    if not score then
        return 'NONE', nil
    end
    return 'AWAY', { seq = math.floor(score / GENERATIONS), generation = score % GENERATIONS }
end

local function drop_expired(member, place)
    end_turn(place.seq)
    redis.call('HDEL', key_places, member)
    redis.call('ZREM', key_ready, member)
    redis.call('ZREM', key_pickup, member)
    redis.call('HINCRBY', key_state, 'expired', 1)
end
