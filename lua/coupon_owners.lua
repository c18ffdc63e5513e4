#!lua
-- coupon_owners: tells Redis who has a coupon of an event, or that somebody has none.
--@keys couponOwners
--@args event change
-- then members, at most a thousand.
-- change: add or drop.
-- Returns {LOADED, how many were new, or were there}.
-- Safe because it names each of them: who is told of twice counts once. Members are added only as PostgreSQL has
-- them committed, and nobody ever loses a coupon, so that adding is true whenever it arrives. Dropped is who was here
-- before PostgreSQL was asked and knew of no coupon; should one be issued to that very member in between, its row in the
-- outbox, or the next comparison, adds it again.
--@include coupon_owners

local changed = 0
for i = 3, #ARGV do
    local name = owner_name(arg_event, ARGV[i])
    if arg_change == 'add' then
        changed = changed + redis.call('ZADD', key_couponOwners, 'NX', 0, name)
    else
        changed = changed + redis.call('ZREM', key_couponOwners, name)
    end
end
return { 'LOADED', changed }
