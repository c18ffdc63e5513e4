#!lua
-- consume: spends the entry token after the transaction has committed.
--@keys settings state places ready pickup claimed unpaid tombstones tombstoneUntil seated seatedNext couponOwners orderLoad
--@args member admission keyHash order tombstoneMs keepPlace event load
-- keepPlace: 1 keeps the place occupied until place_free (releaseOn payment, order not yet paid); event: the event of the
-- coupon that the member got, '' for an order; tombstoneMs: how long replays are answered; load: see include order_load.
-- Returns {CONSUMED}, {ALREADY} where this admission holds no place any more, or NOT_FOUND.
-- Safe because it names the admission: a late call never touches a newer token of the member. It is idempotent: the owner of
-- a coupon is recorded by name, regardless of the token's state. The place of an unpaid order is kept even where a reset
-- has emptied the line after the commit; the tombstone, if it exists already, shows that a call before has done so. The
-- tombstone also answers replays without PostgreSQL.
--@include settings
--@include places
--@include end_turn
--@include spent_bits
--@include unpaid
--@include coupon_owners
--@include order_load

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
-- A recovery whose pages have come, and which has not yet looked at the places, counts it already.
local _, is_counted = bits_of(place.seq)
if redis.call('GETBIT', key_seatedNext, is_counted) == 0 then
    redis.call('HINCRBY', key_state, 'consumed', 1)
end
end_turn(place.seq)
if arg_keepPlace == '1' then
    hold_place(arg_member, arg_order)
end
return { 'CONSUMED' }
