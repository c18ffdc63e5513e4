-- give_token_back: makes a claimed token READY again. Needs KEYS state, places, ready, claimed, ARGS member, admission,
-- claim and includes clock, places.

-- Returns the script's reply. Admission and claim must match: a late call never frees another order's claim. The token
-- gets the lifetime that was left when it was claimed.
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
