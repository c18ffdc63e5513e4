#!lua
-- consume: the transaction has committed: the token is spent.
--@keys settings state places ready pickup claimed unpaid tombstones tombstoneUntil seated couponOwners orderLoad
--@args member admission keyHash order tombstoneMs keepPlace event load
-- keepPlace: 1 keeps the place taken until place_free (releaseOn payment and the order is not paid yet); event: the
-- coupon event of which the member got one, '' for an order; load: see include load.
-- Returns {CONSUMED}, {ALREADY} where this admission's token is not there any more, or NOT_FOUND.
-- Safe because it names the admission: one that comes late never touches a newer token of the member.
-- Doing it twice is the same as once. The tombstone answers replays without PostgreSQL. Who has a coupon is put down
-- whatever has become of the token, by name, and so counts once however often it is told. The place of an unpaid order is
-- kept also where a reset has taken the line away after the commit; whether it was kept before, the tombstone tells.
--@include settings
--@include places
--@include turn
--@include unpaid
--@include coupon_owners
--@include load

note_load()
local ends = now + tonumber(arg_tombstoneMs)
local is_first = redis.call('HSET', key_tombstones, arg_admission,
    string.format('%s/%s/%s', arg_member, arg_keyHash, arg_order)) == 1
redis.call('ZADD', key_tombstoneUntil, ends, arg_admission)
if arg_event ~= '' then
    redis.call('ZADD', key_couponOwners, 'NX', 0, owner_name(arg_event, arg_member))
end

local place = place_of(arg_member)
if not place or place.admission ~= arg_admission then
    if is_first and arg_keepPlace == '1' then
        hold_place(arg_member, arg_order)
    end
    return { 'ALREADY' }
end
redis.call('HDEL', key_places, arg_member)
redis.call('ZREM', key_ready, arg_member)
redis.call('ZREM', key_pickup, arg_member)
redis.call('ZREM', key_claimed, arg_member)
redis.call('HINCRBY', key_state, 'consumed', 1)
turn_is_over(place.seq)
if arg_keepPlace == '1' then
    hold_place(arg_member, arg_order)
end
return { 'CONSUMED' }
