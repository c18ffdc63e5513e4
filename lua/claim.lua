#!lua
-- claim: an order (or a coupon) takes hold of an entry token for the length of its transaction.
--@keys settings state places ready pickup claimed tombstones
--@args member admission claim keyHash leastLeaseMs
-- admission: SHA-256 of the token presented; keyHash: SHA-256 of the idempotency key, '' without one;
-- leastLeaseMs: a transaction and its repeat may take so long, whatever claimLeaseSeconds says.
-- Returns {CLAIMED, lease ms, seq, epoch, incarnation, releaseOn}, {REPLAY, order id} for a token spent
-- under the very same key, or ORDER_IN_PROGRESS, ORDER_CAPACITY, ENTRY_TOKEN_INVALID, NOT_FOUND.
-- Safe because looking at the token, counting those in flight and taking it are one step. The token's
-- clock stops while it is CLAIMED: what is left of its life is kept in the record.
--@include queue
--@include places

local place = place_of(arg_member)
if place and place.admission == arg_admission then
    if place.claim ~= '' then
        return { 'ORDER_IN_PROGRESS' }
    end
    local deadline = tonumber(redis.call('ZSCORE', key_ready, arg_member) or 0)
    if deadline == 0 or not is_alive(deadline) then
        return { 'ENTRY_TOKEN_INVALID' }
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
        limits.releaseOn }
end

local tombstone = redis.call('HGET', key_tombstones, arg_admission)
if tombstone and arg_keyHash ~= '' then
    local member, key_hash, order = string.match(tombstone, '^([^/]*)/([^/]*)/([^/]*)$')
    if member == arg_member and key_hash == arg_keyHash then
        return { 'REPLAY', order }
    end
end
return { 'ENTRY_TOKEN_INVALID' }
