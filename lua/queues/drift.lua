#!lua
-- drift: checks some members of one set against the places, and repairs what disagrees.
--@keys settings state places ready pickup claimed
--@args part from
-- part: ready, claimed, pickup, then places (only places that are in no set); from: rank in the set to continue at, counted
-- from 1; 0 to begin.
-- Returns {OK, number of members repaired, cursor, member, what was wrong, … (the first 20)}, or NOT_FOUND. The cursor is
-- the next `from`, 0 at the part's end, -1 where the other parts need no check.
-- Safe because it checks and repairs in one step. Every transition changes these sets together, so a finding means that
-- something else wrote to Redis. A readable place is never removed: at worst it gets a deadline or a lease. A call checks
-- 100 members, since Redis serves nothing else meanwhile; a member that moves between two calls is consistent in both.
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

-- misplaced(member, place): true where a member with this place belongs in another set; moves it there.
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

-- Reads all places: called only where their number differs from that of the sets' members, which no script causes.
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
        -- Too many to check each; the numbers agree.
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
