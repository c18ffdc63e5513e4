#!lua
-- gate_check: whether a member may pass the gate: renews the pass, or gives the first one to a READY member.
--@keys settings state waiting away awayUntil places ready pickup claimed unpaid departures seated priority draw drawn drawGone drawLeft laneNumbers marks
--@args member admission seq generation epoch incarnation visitor token newAdmission lane
-- admission … incarnation are the pass's, '' each without one; visitor is 1 for a visitor's id; token and newAdmission are
-- for a place restored after Redis lost its memory, lane is that of the number's ticket, '' where there is none.
-- Returns {ADMITTED, admission, seq, generation, epoch, incarnation, now, end of the visit in ms}, {WAIT},
-- {HELD}, or NOT_FOUND, UNAUTHENTICATED. seq is 0 where only an unpaid order holds the place: nothing to restore.
-- Safe because only a live place is extended, and never shortened, in the step that checks it; the reply names its
-- admission, which the new pass carries. A pass from before a loss of Redis's memory restores its owner's place once (the
-- number is marked in `seated`) within maxActive: visits that had ended come back too. Without room the owner stands in line
-- at the place's number, before those who entered later.
--@include queue
--@include places
--@include end_turn
--@include set_aside
--@include draw
--@include lanes
--@include find_in_line
--@include find_member
--@include is_locked
--@include rate
--@include bucket
--@include admit_while_idle
--@include visit

if arg_visitor == '1' and conf.identity ~= 'visitor' then
    return { 'UNAUTHENTICATED' }
elseif conf.activation == 'hold' then
    return { 'HELD' }
end

local function admitted(it, ends)
    return { 'ADMITTED', it.admission, it.seq, it.generation, tonumber(conf.epoch),
        tonumber(run.incarnation), now, ends + (now - virtual_now) }
end

local kind, live = find_member(arg_member)
if kind == 'READY' then
    -- Never earlier than before: entryTtlSeconds may have been lowered.
    local ends = math.max(live.deadline, visit_end())
    redis.call('ZADD', key_ready, ends, arg_member)
    redis.call('ZREM', key_pickup, arg_member)
    return admitted(live, ends)
elseif kind == 'CLAIMED' then
    return admitted(live, virtual_now + live.remaining)
end

if redis.call('HEXISTS', key_unpaid, arg_member) == 1 then
    -- The order on which the admission was spent still holds the place; there is no number to restore.
    return admitted({ seq = 0, generation = 0, admission = arg_newAdmission }, visit_end())
elseif kind ~= 'NONE' or arg_admission == '' or arg_seq == '0' or arg_epoch ~= conf.epoch or arg_incarnation == run.incarnation
    or is_locked() then
    return { 'WAIT' }
end
local pass = { seq = tonumber(arg_seq), generation = tonumber(arg_generation) }
if not end_turn(pass.seq) then
    return { 'WAIT' }
end
if pass.seq > tonumber(run.seq) then
    redis.call('HSET', key_state, 'seq', pass.seq, 'countedFrom', pass.seq + 1)
end
local taken = redis.call('ZCARD', key_ready) + redis.call('ZCARD', key_claimed) + redis.call('HLEN', key_unpaid)
if taken < tonumber(redis.call('HGET', key_settings, 'maxActive')) then
    local ends = visit_end()
    give_place(arg_member, pass, arg_token, arg_newAdmission, ends)
    return admitted(pass, ends)
end
--@include marks
--@include line_membership
pass.lane = (arg_lane == 'priority' or arg_lane == 'invite') and arg_lane or lane_of(pass.seq)
if pass.lane == 'lottery' and not the_draw() then
    -- A number that was let in before the draw is not on its list.
    pass.lane = 'main'
end
stand_in_line(arg_member, pass)
if pass.lane == 'main' then
    mark_number(pass.seq, MARK_ASK)
end
return { 'WAIT' }
