#!lua
-- coupon_owners: adds or drops owners of an event's coupons.
--@keys couponOwners
--@args event change
-- then members, at most 1000. change: add or drop.
-- Returns {LOADED, number of members added or dropped}.
-- Safe because owners are a set of names: repeats change nothing. Only committed owners are added, and a coupon is never
-- taken back, so a late add is still true. A drop names members read from Redis before PostgreSQL, queried afterwards, had
-- no coupon of theirs; if one is issued in between, its outbox row or the next comparison adds the member again.
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
