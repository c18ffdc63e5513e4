-- unpaid: the places that orders hold until they are paid. Needs KEYS unpaid.
-- A member's field lists the orders, newest first, separated by spaces; the member may not enter meanwhile. After a reset or
-- a loss there may be several: each but the newest then has a field member/order too, so that HLEN counts the places.

local function orders_held(member)
    local orders = {}
    for order in string.gmatch(redis.call('HGET', key_unpaid, member) or '', '%S+') do
        orders[#orders + 1] = order
    end
    return orders
end

local function hold_place(member, order)
    local orders = orders_held(member)
    for _, held in ipairs(orders) do
        if held == order then
            return
        end
    end
    if orders[1] then
        redis.call('HSET', key_unpaid, member .. '/' .. orders[1], orders[1])
    end
    table.insert(orders, 1, order)
    redis.call('HSET', key_unpaid, member, table.concat(orders, ' '))
end

-- Returns whether the order held a place.
local function give_place_up(member, order)
    local orders, rest = orders_held(member), {}
    for _, held in ipairs(orders) do
        if held ~= order then
            rest[#rest + 1] = held
        end
    end
    if #rest == #orders then
        -- Left by a script of an earlier release, which has one order a member.
        return redis.call('HDEL', key_unpaid, member .. '/' .. order) == 1
    elseif rest[1] then
        redis.call('HSET', key_unpaid, member, table.concat(rest, ' '))
        redis.call('HDEL', key_unpaid, member .. '/' .. (orders[1] == order and rest[1] or order))
    else
        redis.call('HDEL', key_unpaid, member)
    end
    return true
end
