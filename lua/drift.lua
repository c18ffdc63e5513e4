#!lua
-- drift: looks at some places, or at some of a set's members, for what stands in one set and not in the others, and puts
-- it right.
--@keys settings state places ready pickup claimed
--@args part cursor
-- part: places, ready, claimed or pickup; cursor: where to go on, 0 at the beginning.
-- Returns {OK, number of members mended, where to go on, member, what was wrong, …}, or NOT_FOUND. To go on is 0 at the
-- part's end, and '' where nothing else need be looked at.
-- Safe because it looks and mends in one step. Every transition keeps these sets in step, so a finding
-- means that somebody else wrote to Redis; a place is never taken from a member by it, at worst given an
-- end. Few at a time, for everybody else waits meanwhile; whoever moves between two calls is in step before and after.
--@include queue
--@include places

local AT_ONCE, FEW = 100, 2000
local found = { 'OK', 0, '0' }
local function report(member, what)
    found[2] = found[2] + 1
    if found[2] <= 20 then
        found[#found + 1] = member
        found[#found + 1] = what
    end
end

-- Every second word of what a scan has found, and the words between them.
local function scan(command, key)
    local names, values = {}, {}
    local answer = redis.call(command, key, arg_cursor, 'COUNT', AT_ONCE)
    found[3] = answer[1]
    for i = 1, #answer[2], 2 do
        names[#names + 1], values[#values + 1] = answer[2][i], answer[2][i + 1]
    end
    return names, values
end

local function look_at_places()
    local places = redis.call('HLEN', key_places)
    if arg_cursor == '0' and places > FEW
        and places == redis.call('ZCARD', key_ready) + redis.call('ZCARD', key_claimed) then
        -- To look at each would keep Redis busy, and the numbers agree.
        found[3] = ''
        return
    end
    local members, records = scan('HSCAN', key_places)
    if #members == 0 then
        return
    end
    local ready = redis.call('ZMSCORE', key_ready, unpack(members))
    local claimed = redis.call('ZMSCORE', key_claimed, unpack(members))
    for i, member in ipairs(members) do
        local place = read_record(records[i])
        if not place then
            redis.call('HDEL', key_places, member)
            report(member, 'unreadable place')
        elseif place.claim ~= '' and (ready[i] or not claimed[i]) then
            redis.call('ZADD', key_claimed, 'NX', now, member)
            redis.call('ZREM', key_ready, member)
            report(member, 'claim without a lease')
        elseif place.claim == '' and (claimed[i] or not ready[i]) then
            redis.call('ZADD', key_ready, 'NX', virtual_now + 60000, member)
            redis.call('ZREM', key_claimed, member)
            report(member, 'place without an end')
        end
    end
end

local function look_at(key, what)
    local members = scan('ZSCAN', key)
    if #members == 0 then
        return
    end
    local records = redis.call('HMGET', key_places, unpack(members))
    for i, member in ipairs(members) do
        if not (records[i] and read_record(records[i])) then
            redis.call('ZREM', key, member)
            report(member, what)
        end
    end
end

if arg_part == 'places' then
    look_at_places()
elseif arg_part == 'ready' then
    look_at(key_ready, 'end without a place')
elseif arg_part == 'claimed' then
    look_at(key_claimed, 'lease without a place')
else
    look_at(key_pickup, 'pickup without a place')
end
return found
