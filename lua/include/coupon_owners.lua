-- coupon_owners: who has a coupon of which event. Needs KEYS couponOwners.
-- An ordered set of event/member, all with score 0: how many an event has issued is how many begin with it, so that no
-- counter can say otherwise, and whoever is told of twice counts once.

local function owner_name(event, member)
    return event .. '/' .. member
end

local function issued_of(event)
    return redis.call('ZLEXCOUNT', key_couponOwners, '[' .. event .. '/', '(' .. event .. '0')
end
