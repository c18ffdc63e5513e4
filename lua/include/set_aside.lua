-- set_aside: withdraws the token of a member who has not picked it up, and keeps the number.
-- Needs KEYS places, ready, pickup, away, awayUntil and includes queue, places. `place` may be nil: then the member is only
-- removed from the sets.
local GENERATIONS = 4096

local function set_aside(member, place, away_ms)
    redis.call('ZREM', key_pickup, member)
    redis.call('ZREM', key_ready, member)
    redis.call('HDEL', key_places, member)
    if place then
        redis.call('ZADD', key_away, place.seq * GENERATIONS + place.generation, member)
        redis.call('ZADD', key_awayUntil, now + away_ms, member)
    end
end
