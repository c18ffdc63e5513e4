#!lua
-- leave: a member gives up the place in line or the unused entry token.
--@keys settings state waiting away awayUntil places ready pickup departures seated priority draw drawn drawGone drawLeft laneNumbers marks
--@args member seq generation epoch incarnation lane visitor
-- Returns {LEFT, seq}, {NOT_THERE}, or NOT_FOUND, UNAUTHENTICATED, ORDER_IN_PROGRESS, SESSION_REVOKED.
-- Safe because the place is checked and removed in one step. A CLAIMED place stays: its order decides. The number is marked
-- in `seated`, so no ticket restores it after a loss; a refusal marks none.
--@include queue
--@include places
--@include end_turn
--@include set_aside
--@include draw
--@include lanes
--@include find_in_line
--@include marks
--@include line_membership
--@include find_member
--@include ticket
--@include remove_member

if arg_visitor == '1' and conf.identity ~= 'visitor' then
    return { 'UNAUTHENTICATED' }
end
if ticket and ticket.epoch ~= conf.epoch then
    return { 'NOT_THERE' }
end
local kind, it = find_member(arg_member)
local is_there = kind ~= 'NONE' and kind ~= 'EXPIRED'
if is_there and ticket and not ticket_is_current(it) and not ticket_took_over(it) then
    return { 'SESSION_REVOKED' }
elseif kind == 'CLAIMED' then
    return { 'ORDER_IN_PROGRESS' }
end
if ticket_survived_a_loss() then
    -- No other copy of the ticket may restore this number.
    end_turn(ticket.seq)
end
if not is_there then
    if kind == 'EXPIRED' then
        drop_expired(arg_member, it)
    end
    return { 'NOT_THERE' }
end

redis.call('HINCRBY', key_state, 'left', 1)
remove_member(arg_member, kind, it)
return { 'LEFT', it.seq }
