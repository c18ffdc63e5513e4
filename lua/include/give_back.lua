-- give_back: a transaction has rolled back: its token is READY again. Needs KEYS state, places, ready, claimed, ARGS
-- member, admission, claim and includes clock, places.

-- The answer of the script. It names admission and claim: a late one never frees another order's claim. The
-- token lives on for what was left of it when it was claimed.
local function give_token_back()
    local place = place_of(arg_member)
    if not place or place.admission ~= arg_admission or place.claim ~= arg_claim then
        return { 'NOT_CLAIMED' }
    end
    redis.call('ZREM', key_claimed, arg_member)
    redis.call('ZADD', key_ready, virtual_now + place.remaining, arg_member)
    place.claim, place.key_hash, place.remaining = '', '', 0
    redis.call('HSET', key_places, arg_member, place_record(place))
    redis.call('HINCRBY', key_state, 'released', 1)
    return { 'RELEASED' }
end
