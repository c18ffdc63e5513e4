#!lua
-- seats_tell: carries PostgreSQL's word on seats: ordered, sold, free again.
--@keys show:info show:plan show:planNext show:board show:boardNext show:held show:holds show:mine show:taken show:owned
--@args correct
-- then, per seat: seat, change, state (O ordered, S sold, F free), member, order. correct 1: what Redis believes is
-- known to be wrong, so that a later change is overruled too.
-- Returns {OK, how many were news}.
-- Safe because the change number of a seat is taken under its row lock: an older word that comes late changes
-- nothing. What is ordered or sold takes the place of any hold; what is free again leaves a hold alone, for only
-- a member who was never told of the order can have it.
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

local news = 0
for i = FIRST, #ARGV, WORDS do
    local seat, change, state, member, order = unpack(ARGV, i, i + WORDS - 1)
    local before = taken_of(redis.call('HGET', key_show_taken, seat))
    local record = string.format('%s/%s/%s/%s', change, state, member, order)
    local differs = not before or before.change ~= tonumber(change) or before.state ~= state or before.member ~= member
        or before.order ~= order
    if (not before or tonumber(change) > before.change) or (arg_correct == '1' and differs) then
        news = news + 1
        redis.call('HSET', key_show_taken, seat, record)
        if before and before.state ~= 'F' then
            disown(before.member, seat)
        end
        if state ~= 'F' then
            disown(member, seat)
            table.insert(owned[member], seat)
            end_hold_of_seat(seat, state, 0)
        else
            local ends = tonumber(redis.call('ZSCORE', key_show_held, seat) or 0)
            show_cell(seat, ends > now and 'H' or '', ends)
        end
    end
end
for member, seats in pairs(owned) do
    if #seats == 0 then
        redis.call('HDEL', key_show_owned, member)
    else
        redis.call('HSET', key_show_owned, member, table.concat(seats, ' '))
    end
end
return { 'OK', news }
