#!lua
-- drift: looks for places that stand in one set and not in the others, and puts them right.
--@keys settings state places ready pickup claimed
--@args
-- Returns {OK, number of members mended, member, what was wrong, …}, or NOT_FOUND.
-- Safe because it looks and mends in one step. Every transition keeps these sets in step, so a finding
-- means that somebody else wrote to Redis; a place is never taken from a member by it, at worst given an
-- end.
--@include queue
--@include places

local found = { 'OK', 0 }
local function report(member, what)
    found[2] = found[2] + 1
    if found[2] <= 20 then
        found[#found + 1] = member
        found[#found + 1] = what
    end
end

if redis.call('HLEN', key_places) == redis.call('ZCARD', key_ready) + redis.call('ZCARD', key_claimed) then
    local pickups = redis.call('ZCARD', key_pickup)
    if pickups <= redis.call('ZCARD', key_ready) then
        return found
    end
end

for _, member in ipairs(redis.call('HKEYS', key_places)) do
    local place = place_of(member)
    if not place then
        redis.call('HDEL', key_places, member)
        report(member, 'unreadable place')
    elseif place.claim ~= '' and not redis.call('ZSCORE', key_claimed, member) then
        redis.call('ZADD', key_claimed, now, member)
        redis.call('ZREM', key_ready, member)
        report(member, 'claim without a lease')
    elseif place.claim == '' and not redis.call('ZSCORE', key_ready, member) then
        redis.call('ZADD', key_ready, virtual_now + 60000, member)
        redis.call('ZREM', key_claimed, member)
        report(member, 'place without an end')
    end
end
local function without_place(key, what)
    for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do
        if redis.call('HEXISTS', key_places, member) == 0 then
            redis.call('ZREM', key, member)
            report(member, what)
        end
    end
end
without_place(key_ready, 'end without a place')
without_place(key_claimed, 'lease without a place')
without_place(key_pickup, 'pickup without a place')
return found
