#!lua
-- release: the transaction rolled back: the token is READY again.
--@keys settings state places ready claimed
--@args member admission claim
-- Returns {RELEASED}, {NOT_CLAIMED} where this claim does not hold the token any more, or NOT_FOUND.
-- Safe because it names admission and claim: a late release never frees another order's claim. The token
-- lives on for what was left of it when it was claimed.
--@include queue
--@include places

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
