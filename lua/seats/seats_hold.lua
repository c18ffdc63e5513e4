#!lua
-- seats_hold: a member holds seats: all of them or none.
--@keys settings state places ready show:info show:plan show:planNext show:board show:boardNext show:held show:holds show:mine show:taken show:owned
--@args member admission replace
-- then the seats, each once. replace 1: the member's other holds are released in the same step.
-- Returns {HELD, now, the member's record of holds}, or {SEATS_TAKEN, seat, …}, {UNKNOWN_SEAT, seat, …},
-- {TOO_MANY_SEATS, how many a member may have}, ENTRY_TOKEN_INVALID, ORDER_IN_PROGRESS, NOT_FOUND (also: show).
-- Safe because token, seats, the member's count and the indexes are checked and changed in one step, and nothing is written
-- before the last refusal. A seat that the member holds already keeps its deadline, so repeats do not extend a hold.
--@include queue
--@include places
--@include token
--@include seats
--@include own_seats
--@include running

local FIRST = 4
if not show.version then
    return { 'NOT_FOUND', 'show' }
end
local place, refusal = usable_place(arg_member, arg_admission)
if not place then
    return { refusal }
end

local wanted = { unpack(ARGV, FIRST) }
know_positions(wanted)
local ends = redis.call('ZMSCORE', key_show_held, unpack(wanted))
local recorded = redis.call('HMGET', key_show_taken, unpack(wanted))
local is_wanted, held = {}, {}
for _, seat in ipairs(wanted) do
    is_wanted[seat] = true
end
local count = #wanted + #own_seats(arg_member)
local given_up = {}
for _, hold in ipairs(holds_of(arg_member)) do
    local running = is_running(hold, place)
    if running and (is_wanted[hold.seat] or arg_replace == '1') then
        return { 'ORDER_IN_PROGRESS' }
    end
    held[hold.seat] = (running or hold.deadline > now) and 'alive' or 'ended'
    if not is_wanted[hold.seat] and held[hold.seat] == 'alive' then
        if arg_replace == '1' then
            given_up[#given_up + 1] = hold.seat
        else
            count = count + 1
        end
    end
end

local unknown, taken = { 'UNKNOWN_SEAT' }, { 'SEATS_TAKEN' }
for i, seat in ipairs(wanted) do
    local order = taken_of(recorded[i])
    if not positions[seat] then
        unknown[#unknown + 1] = seat
    elseif (order and order.state ~= 'F') or (not held[seat] and tonumber(ends[i] or 0) > now) then
        taken[#taken + 1] = seat
    end
end
if #unknown > 1 then
    return unknown
elseif count > show.max_seats then
    return { 'TOO_MANY_SEATS', show.max_seats }
elseif #taken > 1 then
    return taken
end

collect_ended()
for _, seat in ipairs(given_up) do
    drop_hold(arg_member, seat)
    show_cell(seat, '', 0)
end
local new, owners = {}, {}
local before = redis.call('HMGET', key_show_holds, unpack(wanted))
for i, seat in ipairs(wanted) do
    if held[seat] ~= 'alive' then
        if before[i] then
            -- An expired hold.
            drop_hold(before[i], seat)
            write_holds(before[i])
        end
        local hold = { seat = seat, deadline = now + show.hold_ttl_ms, guard = 0, claim = '', admission = '' }
        table.insert(holds_of(arg_member), hold)
        new[#new + 1] = hold
        owners[#owners + 1] = seat
        owners[#owners + 1] = arg_member
    end
end
note_holds(new)
if #owners > 0 then
    redis.call('HSET', key_show_holds, unpack(owners))
end
write_holds(arg_member)
return { 'HELD', now, redis.call('HGET', key_show_mine, arg_member) }
