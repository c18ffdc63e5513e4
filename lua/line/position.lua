#!lua
-- position: where a member stands; the poll of a READY member picks the entry token up.
--@keys settings state waiting away awayUntil places ready pickup unpaid departures seated priority draw drawn drawGone drawLeft entrants laneNumbers marks
--@args member seq generation epoch incarnation lane visitor
-- visitor is 1 for a caller known by the visitor cookie alone; the other five are the ticket's, '' each
-- without one.
-- Returns {OK, position…} (see include/position), or NOT_FOUND, UNAUTHENTICATED, QUEUE_RESET,
-- SESSION_REVOKED.
-- Safe because token and line are read in one step, and promotion moves a member in one step too: no poll finds a member in
-- neither. A revoked ticket is refused before a token is picked up or a number set aside comes back.
--@include settings
--@include run_front
--@include queue_state
--@include main_line
if arg_visitor == '1' and conf.identity ~= 'visitor' then
    return { 'UNAUTHENTICATED' }
end
if arg_seq ~= '' and arg_epoch ~= conf.epoch then
    return { 'QUEUE_RESET' }
end
do
    local seq, generation = stands_in_main_line()
    if seq and is_ordinary() then
        if arg_seq ~= '' and not is_of_ticket(seq, generation) then
            return { 'SESSION_REVOKED' }
        end
        return main_line_answer('OK', redis.call('ZRANK', key_waiting, arg_member), redis.call('ZCARD', key_waiting),
            seq, generation)
    end
end

--@include run_rest
--@include virtual_clock
--@include places
-- The fast path for a READY member, where no other lane was ever used.
do
    local place = is_ordinary() and conf.mode ~= 'lottery' and (conf.lotteryDraw or '') == '' and not run.drawFirst
        and redis.call('EXISTS', key_laneNumbers) == 0 and place_of(arg_member)
    local deadline = place and place.claim == '' and tonumber(redis.call('ZSCORE', key_ready, arg_member) or 0)
    if deadline and is_alive(deadline) then
        if arg_seq ~= '' and not is_of_ticket(place.seq, place.generation) then
            return { 'SESSION_REVOKED' }
        end
        redis.call('ZREM', key_pickup, arg_member)
        return { 'OK', queue_state(), 'READY', -1, redis.call('ZCARD', key_waiting), place.token,
            deadline + (now - virtual_now), 0, observed_rate_milli(), place.seq, place.generation, tonumber(conf.epoch),
            tonumber(run.incarnation), now, conf.activation, conf.pollTiers or '', 'main', 0 }
    end
end

--@include end_turn
--@include set_aside
--@include draw
--@include lanes
--@include find_in_line
--@include marks
--@include line_membership
--@include entrants
--@include find_member
--@include ticket
--@include seat_again
--@include is_locked
--@include rate
--@include position

local kind, it = find_member(arg_member)
if ticket_survived_a_loss() then
    if is_locked() then
        return { 'NOT_FOUND', 'unknown' }
    end
    kind, it = seat_again(arg_member, kind, it)
end
if kind == 'EXPIRED' then
    kind, it = 'NONE', nil
end
if it and ticket and not ticket_is_current(it) then
    return { 'SESSION_REVOKED' }
end
if kind == 'AWAY' then
    come_back(arg_member, it)
    kind = 'WAITING'
elseif kind == 'READY' then
    redis.call('ZREM', key_pickup, arg_member)
end
return position_answer('OK', arg_member, kind, it)
