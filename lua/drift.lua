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

local function set_of(list)
    local set = {}
    for _, member in ipairs(list) do
        set[member] = true
    end
    return set
end
local places, leases = redis.call('HLEN', key_places), redis.call('ZCARD', key_claimed)
if places > 2000 and places == redis.call('ZCARD', key_ready) + leases then
    -- A look at each would keep everybody waiting; the numbers agree.
    return found
end
local is_ready = set_of(redis.call('ZRANGE', key_ready, 0, -1))
local is_claimed = set_of(redis.call('ZRANGE', key_claimed, 0, -1))
local has_place = {}

local records = redis.call('HGETALL', key_places)
for i = 1, #records, 2 do
    local member, place = records[i], read_record(records[i + 1])
    has_place[member] = place ~= nil
    if not place then
        redis.call('HDEL', key_places, member)
        report(member, 'unreadable place')
    elseif place.claim ~= '' and (is_ready[member] or not is_claimed[member]) then
        redis.call('ZADD', key_claimed, 'NX', now, member)
        redis.call('ZREM', key_ready, member)
        report(member, 'claim without a lease')
    elseif place.claim == '' and (is_claimed[member] or not is_ready[member]) then
        redis.call('ZADD', key_ready, 'NX', virtual_now + 60000, member)
        redis.call('ZREM', key_claimed, member)
        report(member, 'place without an end')
    end
end
local function without_place(key, members, what)
    for member in pairs(members) do
        if not has_place[member] then
            redis.call('ZREM', key, member)
            report(member, what)
        end
    end
end
without_place(key_ready, is_ready, 'end without a place')
without_place(key_claimed, is_claimed, 'lease without a place')
without_place(key_pickup, set_of(redis.call('ZRANGE', key_pickup, 0, -1)), 'pickup without a place')
return found
