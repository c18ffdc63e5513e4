#!lua
-- seats_publish: applies the states of seats from PostgreSQL: ordered, sold, free again.
--@keys show:info show:plan show:planNext show:board show:boardNext show:held show:holds show:mine show:taken show:owned
--@args correct
-- then, per seat: seat, change, state (O ordered, S sold, F free), member, order (both '' for F). correct 1: apply every
-- state that differs, even over a later change: Redis is known to be wrong.
-- Returns {OK, number of states applied}.
-- Safe because a seat's change number is taken under its row lock and only a higher one is applied: repeats and late
-- arrivals change nothing. O and S replace any hold. F leaves a hold alone: O or S would have replaced it, so Redis never
-- learned of the order that has ended.
local FIRST, WORDS = 2, 5
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
--@include seats
--@include own_seats

local owned = {}
local function disown(member, seat)
    owned[member] = owned[member] or own_seats(member)
    for i = #owned[member], 1, -1 do
        if owned[member][i] == seat then
            table.remove(owned[member], i)
        end
    end
end

local seats = {}
for i = FIRST, #ARGV, WORDS do
    seats[#seats + 1] = ARGV[i]
end
know_positions(seats)
local recorded, holders = redis.call('HMGET', key_show_taken, unpack(seats)), redis.call('HMGET', key_show_holds, unpack(seats))
local known, holder = {}, {}
for i, seat in ipairs(seats) do
    known[seat], holder[seat] = taken_of(recorded[i]), holders[i]
end

local news, fields, lost = 0, {}, {}
for i = FIRST, #ARGV, WORDS do
    local seat, change, state, member, order = unpack(ARGV, i, i + WORDS - 1)
    local before = known[seat]
    local differs = not before or before.change ~= tonumber(change) or before.state ~= state or before.member ~= member
        or before.order ~= order
    if (not before or tonumber(change) > before.change) or (arg_correct == '1' and differs) then
        news = news + 1
        fields[#fields + 1] = seat
        fields[#fields + 1] = string.format('%s/%s/%s/%s', change, state, member, order)
        known[seat] = taken_of(fields[#fields])
        if before and before.state ~= 'F' then
            disown(before.member, seat)
        end
        if state ~= 'F' then
            disown(member, seat)
            table.insert(owned[member], seat)
            if holder[seat] then
                drop_hold(holder[seat], seat)
                lost[holder[seat]] = true
                holder[seat] = false
            end
            show_cell(seat, state, 0)
        else
            local ends = tonumber(redis.call('ZSCORE', key_show_held, seat) or 0)
            show_cell(seat, ends > now and 'H' or '', ends)
        end
    end
end
if news > 0 then
    redis.call('HSET', key_show_taken, unpack(fields))
end
for member in pairs(lost) do
    write_holds(member)
end
for member, list in pairs(owned) do
    if #list == 0 then
        redis.call('HDEL', key_show_owned, member)
    else
        redis.call('HSET', key_show_owned, member, table.concat(list, ' '))
    end
end
return { 'OK', news }
