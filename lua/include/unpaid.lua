-- unpaid: the places that orders hold until they are paid. Needs KEYS unpaid.
-- By member, who may not enter meanwhile. Behind a reset or a loss one member may have a second such order: its field is
-- member/order, so that each holds a place.

local function hold_place(member, order)
    local second = member .. '/' .. order
    local held = redis.call('HMGET', key_unpaid, member, second)
    if held[1] ~= order and not held[2] then
        redis.call('HSET', key_unpaid, held[1] and second or member, order)
    end
end

-- Whether it was held.
local function give_place_up(member, order)
    if redis.call('HGET', key_unpaid, member) == order then
        return redis.call('HDEL', key_unpaid, member) == 1
    end
    return redis.call('HDEL', key_unpaid, member .. '/' .. order) == 1
end
