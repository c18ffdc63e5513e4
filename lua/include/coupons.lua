-- coupons: what Redis knows of the coupon events of a queue. Needs KEYS coupons, couponOwners.
-- coupons is a hash: event to its record total/gone/opensMs/endsMs (0: no such time), as PostgreSQL has found it;
-- under ':change', which no event is called, the number of that finding. couponOwners is an ordered set of
-- event/member, all with score 0: how many an event has issued is how many begin with it, so that no counter can
-- say otherwise, and whoever is told of twice counts once.

local function owner_name(event, member)
    return event .. '/' .. member
end

local function issued_of(event)
    return redis.call('ZLEXCOUNT', key_couponOwners, '[' .. event .. '/', '(' .. event .. '0')
end

-- Nil for an event that Redis was not told of.
local function coupon_event(event)
    local total, gone, opens, ends =
        string.match(redis.call('HGET', key_coupons, event) or '', '^(%d+)/([01])/(%d+)/(%d+)$')
    if not total then
        return nil
    end
    return { total = tonumber(total), gone = gone == '1', opens = tonumber(opens), ends = tonumber(ends) }
end
