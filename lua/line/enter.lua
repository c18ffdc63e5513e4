#!lua
-- enter: a member takes a place in line, or gets the one already held.
--@keys settings state waiting away awayUntil places ready pickup claimed unpaid departures seated arrivals priority draw drawn drawGone drawLeft entrants laneNumbers codes codeUsers codeUses promises marks proofs
--@args member seq generation epoch incarnation lane visitor mode token admission code unproven proof
-- visitor is 1 for a caller without login; seq … lane are the ticket's, '' each without one.
-- mode: take_over; stay: refused where another screen has taken the place over; at_once: only where the member is let in
-- without waiting. token, admission: for a member let in without waiting (admitWhenIdle or an invite).
-- code: hash of an invite or priority code, '' without one. unproven is 1 for a visitor created by this request, whose
-- browser may not keep cookies: a place given without waiting is withdrawn where it is not picked up within 30 s (or
-- pickupSeconds if shorter). proof: names the proof of work done for this entry, '' without one.
-- Returns {ENTERED | ALREADY, position…} (see include/position), or NOT_FOUND, UNAUTHENTICATED, CODE_INVALID,
-- CAPTCHA_FAILED, SESSION_REVOKED (mode stay), NOT_THERE (mode at_once), ALREADY_ACTIVE, QUEUE_CLOSED, {SOLD_OUT, ended |
-- gone}, QUEUE_FULL.
-- Safe because checking, numbering and queueing are one step: the number comes from a counter raised in the step that adds
-- the member, so the order of numbers is the order of entry, and a repeat finds the first place. A repeat without the
-- current ticket is a takeover: the generation rises, the number stays. A member let in without waiting takes from the same
-- bucket and the same places as a tick does, and only while nobody waits or by an invite. A use of a code is counted in the
-- step that takes the place; an invalid one takes nothing. An entry before a lottery's opening joins the list
-- that the draw's seed depends on in the same step.
--@include settings
--@include run_front
--@include queue_state
--@include main_line
--@include promise
--@include marks
if arg_visitor == '1' and conf.identity ~= 'visitor' then
    return { 'UNAUTHENTICATED' }
end
do
    local seq, generation, waiting = nil, 0, nil
    if arg_code == '' and arg_mode == 'take_over' and is_ordinary() then
        seq, generation = stands_in_main_line()
        waiting = redis.call('ZCARD', key_waiting)
    end
    if seq then
        if not is_of_ticket(seq, generation) then
            generation = (generation + 1) % 4096
            redis.call('ZADD', key_waiting, seq * 4096 + generation, arg_member)
            mark_number(seq, MARK_ASK)
        end
        return main_line_answer('ALREADY', redis.call('ZRANK', key_waiting, arg_member), waiting, seq, generation)
    elseif waiting and conf.mode ~= 'lottery' and conf.admitWhenIdle ~= '1' and conf.entryCaptcha ~= 'altcha'
        and redis.call('HEXISTS', key_places, arg_member) == 0 and not redis.call('ZSCORE', key_away, arg_member)
        and redis.call('HEXISTS', key_unpaid, arg_member) == 0 then
        local state, most = queue_state(), tonumber(conf.maxWaiting)
        if state == 'CLOSED' or conf.operatorState == 'DRAINING' then
            return { 'QUEUE_CLOSED' }
        elseif state == 'SOLD_OUT' then
            --@include refuse_sold_out
        elseif most ~= 0 and waiting >= most then
            return { 'QUEUE_FULL' }
        end
        seq = redis.call('HINCRBY', key_state, 'seq', 1)
        redis.call('HINCRBY', key_state, 'entered', 1)
        redis.call('ZADD', key_arrivals, seq, math.floor(now / 1000))
        redis.call('ZADD', key_waiting, seq * 4096, arg_member)
        return remember_promise(main_line_answer('ENTERED', waiting, waiting + 1, seq, 0))
    end
end

--@include run_rest
--@include virtual_clock
--@include places
--@include end_turn
--@include set_aside
--@include draw
--@include lanes
--@include find_in_line
--@include line_membership
--@include entrants
--@include find_member
--@include ticket
--@include seat_again
--@include is_locked
--@include rate
--@include bucket
--@include admit_while_idle
--@include visit
--@include codes
--@include entry_proof
--@include position

local kind, it = find_member(arg_member)
if kind == 'EXPIRED' then
    drop_expired(arg_member, it)
    kind, it = 'NONE', nil
end
if ticket_survived_a_loss() then
    if is_locked() then
        return { 'NOT_FOUND', 'unknown' }
    end
    kind, it = seat_again(arg_member, kind, it)
end
local code = read_code()
if code == false then
    return { 'CODE_INVALID' }
end
local lane = code and CODE_LANES[code.kind] or nil

-- An invited member is let in without waiting where rate and places allow it.
local refill, filled = nil, nil
local function may_come_in_by_invite()
    if lane == 'invite' then
        refill, filled = may_enter_at_once(true)
    end
    return refill ~= nil
end
local function come_in(life_ms)
    take_between_ticks(refill, filled)
    if lane == 'invite' then
        redis.call('SETBIT', key_laneNumbers, lane_bit(it.seq, 'invite'), 1)
    end
    give_place(arg_member, it, arg_token, arg_admission, virtual_now + life_ms)
end
local LANE_ORDER = { main = 0, lottery = 0, priority = 1, invite = 2 }

if kind ~= 'NONE' then
    if arg_mode == 'stay' and ticket and ticket.epoch == conf.epoch and not ticket_is_current(it) then
        return { 'SESSION_REVOKED' }
    end
    local moved = false
    if lane and (kind == 'WAITING' or kind == 'AWAY') then
        local own_lane = it.lane or lane_of(it.seq)
        local comes_in = may_come_in_by_invite()
        if comes_in or LANE_ORDER[lane] > LANE_ORDER[own_lane] then
            use_code(code)
            moved = true
            if kind == 'WAITING' then
                step_out(arg_member, it)
            end
        end
        if comes_in then
            redis.call('ZREM', key_away, arg_member)
            redis.call('ZREM', key_awayUntil, arg_member)
            it.generation = (it.generation + 1) % GENERATIONS
            come_in(ttl_ms)
            return position_answer('ALREADY', arg_member, 'READY', it)
        end
        lane = moved and lane or own_lane
    end
    -- A change of lane raises the generation: after a loss the latest ticket counts.
    if moved or not ticket_is_current(it) then
        it.generation = (it.generation + 1) % GENERATIONS
    end
    if kind == 'WAITING' then
        it.lane = moved and lane or it.lane
        stand_in_line(arg_member, it)
        if it.lane == 'main' and it.generation > 0 then
            mark_number(it.seq, MARK_ASK)
        end
    elseif kind == 'AWAY' then
        come_back(arg_member, it, moved and lane or nil)
        kind = 'WAITING'
    else
        redis.call('HSET', key_places, arg_member, place_record(it))
        redis.call('ZREM', key_pickup, arg_member)
    end
    return position_answer('ALREADY', arg_member, kind, it)
end

if redis.call('HEXISTS', key_unpaid, arg_member) == 1 then
    return { 'ALREADY_ACTIVE' }
end
local state = queue_state()
if state == 'CLOSED' or conf.operatorState == 'DRAINING' then
    return { 'QUEUE_CLOSED' }
elseif state == 'SOLD_OUT' then
    --@include refuse_sold_out
end
local by_invite = may_come_in_by_invite()
if not by_invite then
    refill, filled = may_enter_at_once()
end
if arg_mode == 'at_once' and not refill then
    return { 'NOT_THERE' }
end
local most = tonumber(conf.maxWaiting)
if is_locked() then
    return { arg_mode == 'at_once' and 'NOT_THERE' or 'QUEUE_FULL' }
elseif not by_invite and most > 0 and in_line() >= most then
    return { 'QUEUE_FULL' }
end
if proof_is_missing() then
    return { arg_mode == 'at_once' and 'NOT_THERE' or 'CAPTCHA_FAILED' }
end

if not refill then
    lane = lane or (draw_is_open() and 'lottery' or 'main')
end
it = { seq = redis.call('HINCRBY', key_state, 'seq', 1), generation = 0, lane = lane or 'main' }
redis.call('HINCRBY', key_state, 'entered', 1)
-- Maps a number to the second in which it was given.
redis.call('ZADD', key_arrivals, it.seq, math.floor(now / 1000))
if code then
    use_code(code)
    number_is_missing('main', it.seq)
end
if refill then
    if not by_invite then
        -- Nobody waits: the front of the main line moves past this number.
        redis.call('HSET', key_state, 'lastServedSeq', it.seq, 'lastWaitMs', 0, 'mainFront', it.seq)
    end
    come_in(ttl_ms)
    if arg_unproven == '1' then
        local UNPROVEN_MS = 30000
        local pickup_ms = tonumber(redis.call('HGET', key_settings, 'pickupSeconds')) * 1000
        redis.call('ZADD', key_pickup, virtual_now + math.min(UNPROVEN_MS, pickup_ms), arg_member)
    end
    return position_answer('ENTERED', arg_member, 'READY', it)
end
if it.lane == 'lottery' then
    list_entrant(arg_member, it.seq)
end
stand_in_line(arg_member, it)
return remember_promise(position_answer('ENTERED', arg_member, 'WAITING', it))
