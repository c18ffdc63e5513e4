#!lua
-- seats_release: releases a member's holds.
--@keys settings state places show:info show:plan show:planNext show:board show:boardNext show:held show:holds show:mine
--@args member
-- then the seats, or none for all; those that the member does not hold are ignored.
-- Returns {RELEASED, how many}, or ORDER_IN_PROGRESS, NOT_FOUND (also: show).
-- Safe because the holds are checked and released in one step: where an order runs on one of them, none is released.
--@include queue
--@include places
--@include seats
--@include running

local FIRST = 2
if not show.version then
    return { 'NOT_FOUND', 'show' }
end
local named = {}
for i = FIRST, #ARGV do
    named[ARGV[i]] = true
end
local place = place_of(arg_member)
local leaving = {}
for _, hold in ipairs(holds_of(arg_member)) do
    if #ARGV < FIRST or named[hold.seat] then
        if is_running(hold, place) then
            return { 'ORDER_IN_PROGRESS' }
        end
        leaving[#leaving + 1] = hold.seat
    end
end
for _, seat in ipairs(leaving) do
    drop_hold(arg_member, seat)
    show_cell(seat, '', 0)
end
if #leaving > 0 then
    write_holds(arg_member)
end
return { 'RELEASED', #leaving }
