#!lua
-- drift: looks at some members of a set for what stands in it and not in the others, and puts it right.
--@keys settings state places ready pickup claimed
--@args part from
-- part: ready, claimed, pickup, and at last places, of which only those are looked for that stand in no set; from: at which
-- member of the set to go on, counted from 1; 0 at the beginning.
-- Returns {OK, number of members mended, where to go on, member, what was wrong, …}, or NOT_FOUND. To go on is 0 at the
-- part's end, and -1 where nothing else need be looked at.
-- Safe because it looks and mends in one step. Every transition keeps these sets in step, so a finding
-- means that somebody else wrote to Redis; a place is never taken from a member by it, at worst given an
-- end. Few at a time, for everybody else waits meanwhile; whoever moves between two calls is in step before and after.
--@include queue
--@include places

local AT_ONCE, FEW = 100, 2000
local found = { 'OK', 0, 0 }
local function report(member, what)
    found[2] = found[2] + 1
    if found[2] <= 20 then
        found[#found + 1] = member
        found[#found + 1] = what
    end
end

local function is_claimed(member)
    redis.call('ZADD', key_claimed, 'NX', now, member)
    redis.call('ZREM', key_ready, member)
    report(member, 'claim without a lease')
end

local function is_ready(member)
    redis.call('ZADD', key_ready, 'NX', virtual_now + 60000, member)
    redis.call('ZREM', key_claimed, member)
    report(member, 'place without an end')
end

local function is_unreadable(member)
    redis.call('HDEL', key_places, member)
    report(member, 'unreadable place')
end

-- misplaced(member, place): whether a member with such a place does not belong into this set; it is moved then.
local function look_at(key, what, misplaced)
    local from = math.max(tonumber(arg_from), 1)
    local members = redis.call('ZRANGE', key, from - 1, from + AT_ONCE - 2)
    if #members == 0 then
        return
    end
    local records = redis.call('HMGET', key_places, unpack(members))
    local stay = 0
    for i, member in ipairs(members) do
        local place = records[i] and read_record(records[i])
        if records[i] and not place then
            is_unreadable(member)
        end
        if not place then
            redis.call('ZREM', key, member)
            report(member, what)
        elseif not (misplaced and misplaced(member, place)) then
            stay = stay + 1
        end
    end
    found[3] = #members == AT_ONCE and from + stay or 0
end

-- Only where there are more places than members of sets, which is nobody's doing here: this looks at all of them.
local function look_for_lost_places()
    local records = redis.call('HGETALL', key_places)
    for i = 1, #records, 2 do
        local member, place = records[i], read_record(records[i + 1])
        if not place then
            is_unreadable(member)
        elseif not redis.call('ZSCORE', key_ready, member) and not redis.call('ZSCORE', key_claimed, member) then
            if place.claim == '' then
                is_ready(member)
            else
                is_claimed(member)
            end
        end
    end
end

local places = redis.call('HLEN', key_places)
local agrees = places == redis.call('ZCARD', key_ready) + redis.call('ZCARD', key_claimed)

if arg_part == 'ready' then
    if arg_from == '0' and places > FEW and agrees then
        -- To look at each would keep Redis busy.
        found[3] = -1
        return found
    end
    look_at(key_ready, 'end without a place', function(member, place)
        return place.claim ~= '' and (is_claimed(member) or true)
    end)
elseif arg_part == 'claimed' then
    look_at(key_claimed, 'lease without a place', function(member, place)
        return place.claim == '' and (is_ready(member) or true)
    end)
elseif arg_part == 'pickup' then
    look_at(key_pickup, 'pickup without a place')
elseif not agrees then
    look_for_lost_places()
end
return found
