#!lua
-- member_end: ends a visit early: the site gives the place back, or an operator evicts the member.
--@keys settings state waiting away awayUntil places ready pickup departures seated ended priority draw drawn drawGone drawLeft laneNumbers unpaid marks
--@args member admission
-- admission: end only the place of this admission; '': whatever the member has, a place in line too.
-- Returns {ENDED}, {NOT_THERE}, or ORDER_IN_PROGRESS, NOT_FOUND.
-- Safe because a late call that names its admission never touches a newer one, and a place with a running or unpaid order
-- is left to the order. The admission is listed in `ended` in the same step, from where hosts learn to refuse its pass.
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
--@include remove_member

local REMEMBERED_MS = 60000
local kind, it = find_member(arg_member)
if kind == 'NONE' and arg_admission == '' and redis.call('HEXISTS', key_unpaid, arg_member) == 1 then
    -- The place belongs to the unpaid order: canceling the order frees it.
    return { 'ORDER_IN_PROGRESS' }
elseif kind == 'NONE' or (arg_admission ~= '' and it.admission ~= arg_admission) then
    return { 'NOT_THERE' }
elseif kind == 'CLAIMED' then
    return { 'ORDER_IN_PROGRESS' }
end
remove_member(arg_member, kind, it)
redis.call('HINCRBY', key_state, arg_admission == '' and 'evicted' or 'returned', 1)
if it.admission then
    redis.call('ZREMRANGEBYSCORE', key_ended, '-inf', now - REMEMBERED_MS)
    redis.call('ZADD', key_ended, now, it.admission)
end
return { 'ENDED' }
