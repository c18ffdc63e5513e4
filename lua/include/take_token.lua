-- take_token: claims an entry token for an order. Needs KEYS settings, places, ready, pickup, claimed, tombstones,
-- orderLoad, ARGS member, admission, claim, keyHash, leastLeaseMs and includes clock, places, token.

-- Returns the script's reply. settled(): a reply that needs no claim of the valid token, or nil. may_take(lease): further
-- conditions; returns nil or a refusal, and may write only where it returns nil.
local function take_token(settled, may_take)
    local place, ends = usable_place(arg_member, arg_admission)
    if not place then
        local tombstone = ends == 'ENTRY_TOKEN_INVALID' and arg_keyHash ~= ''
            and redis.call('HGET', key_tombstones, arg_admission)
        if tombstone then
            local member, key_hash, order = string.match(tombstone, '^([^/]*)/([^/]*)/([^/]*)$')
            if member == arg_member and key_hash == arg_keyHash then
                return { 'REPLAY', order }
            end
        end
        return { ends }
    end
    local answer = settled and settled()
    if answer then
        return answer
    end
    if redis.call('ZCARD', key_claimed) >= tonumber(conf.maxInFlight) then
        redis.call('HINCRBY', key_orderLoad, 'busy', 1)
        return { 'ORDER_CAPACITY' }
    end
    local lease = math.max(tonumber(conf.claimLeaseSeconds) * 1000, tonumber(arg_leastLeaseMs))
    local refusal = may_take and may_take(lease)
    if refusal then
        return refusal
    end
    place.claim, place.key_hash, place.remaining = arg_claim, arg_keyHash, ends - virtual_now
    redis.call('HSET', key_places, arg_member, place_record(place))
    redis.call('ZREM', key_ready, arg_member)
    redis.call('ZREM', key_pickup, arg_member)
    redis.call('ZADD', key_claimed, now + lease, arg_member)
    return { 'CLAIMED', lease, place.seq, tonumber(conf.epoch), tonumber(run.incarnation), conf.releaseOn }
end
