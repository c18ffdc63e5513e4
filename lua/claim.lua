#!lua
-- claim: an order (or a coupon) takes hold of an entry token for the length of its transaction.
--@keys settings state places ready pickup claimed tombstones coupons couponOwners
--@args member admission claim keyHash leastLeaseMs event
-- admission: SHA-256 of the token presented; keyHash: SHA-256 of the idempotency key, '' without one;
-- leastLeaseMs: a transaction and its repeat may take so long, whatever claimLeaseSeconds says; event: the
-- coupon event that the token is for, '' for an order.
-- Returns {CLAIMED, lease ms, seq, epoch, incarnation, releaseOn}, {REPLAY, order id} for a token spent
-- under the very same key, or ORDER_IN_PROGRESS, ORDER_CAPACITY, ENTRY_TOKEN_INVALID, NOT_FOUND; of an event that
-- Redis knows CLAIMED goes on with how many coupons there are and how many are issued, {SOLD_OUT, total} and
-- {ALREADY} leave the token as it is.
-- Safe because looking at the token, counting those in flight and taking it are one step. The token's
-- clock stops while it is CLAIMED: what is left of its life is kept in the record.
-- Sold out is said only where PostgreSQL has said so and Redis knows every owner: else somebody who has a
-- coupon, and of whom Redis has not heard yet, could be told that there is none.
--@include queue
--@include places
--@include coupons
--@include coupon_owners

local place = place_of(arg_member)
if place and place.admission == arg_admission then
    if place.claim ~= '' then
        return { 'ORDER_IN_PROGRESS' }
    end
    local deadline = tonumber(redis.call('ZSCORE', key_ready, arg_member) or 0)
    if deadline == 0 or not is_alive(deadline) then
        return { 'ENTRY_TOKEN_INVALID' }
    end
    local coupons = arg_event ~= '' and coupon_event(arg_event) or nil
    local issued = coupons and issued_of(arg_event)
    if coupons and redis.call('ZSCORE', key_couponOwners, owner_name(arg_event, arg_member)) then
        return { 'ALREADY' }
    elseif coupons and coupons.gone and issued == coupons.total and now >= coupons.opens
        and (coupons.ends == 0 or now < coupons.ends) then
        return { 'SOLD_OUT', coupons.total }
    end
    local limits = hash_fields(key_settings, 'maxInFlight', 'claimLeaseSeconds', 'releaseOn')
    if redis.call('ZCARD', key_claimed) >= tonumber(limits.maxInFlight) then
        return { 'ORDER_CAPACITY' }
    end
    local lease = math.max(tonumber(limits.claimLeaseSeconds) * 1000, tonumber(arg_leastLeaseMs))
    place.claim, place.key_hash, place.remaining = arg_claim, arg_keyHash, deadline - virtual_now
    redis.call('HSET', key_places, arg_member, place_record(place))
    redis.call('ZREM', key_ready, arg_member)
    redis.call('ZREM', key_pickup, arg_member)
    redis.call('ZADD', key_claimed, now + lease, arg_member)
    return { 'CLAIMED', lease, place.seq, tonumber(conf.epoch), tonumber(run.incarnation),
        limits.releaseOn, coupons and coupons.total, issued }
end

local tombstone = redis.call('HGET', key_tombstones, arg_admission)
if tombstone and arg_keyHash ~= '' then
    local member, key_hash, order = string.match(tombstone, '^([^/]*)/([^/]*)/([^/]*)$')
    if member == arg_member and key_hash == arg_keyHash then
        return { 'REPLAY', order }
    end
end
return { 'ENTRY_TOKEN_INVALID' }
