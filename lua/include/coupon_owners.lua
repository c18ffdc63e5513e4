-- coupon_owners: the owners of coupons, by event. Needs KEYS couponOwners.
-- A sorted set of event/member, all with score 0: the number issued is the number of entries that begin with the event, so
-- no counter can disagree, and a member added twice counts once.

local function owner_name(event, member)
    return event .. '/' .. member
end

local function issued_of(event)
    return redis.call('ZLEXCOUNT', key_couponOwners, '[' .. event .. '/', '(' .. event .. '0')
end
