#!lua
-- enter: a member takes a place in line, or learns of the one already held.
--@keys settings state waiting away awayUntil places ready pickup unpaid seated
--@args member seq generation epoch incarnation visitor
-- visitor is 1 for a caller without login; the other four are the ticket's, '' each without one.
-- Returns {ENTERED | ALREADY, position…} (see include/position), or NOT_FOUND, UNAUTHENTICATED,
-- ALREADY_ACTIVE, QUEUE_CLOSED, SOLD_OUT, QUEUE_FULL.
-- Safe because looking, numbering and standing in line are one step: the number comes from a counter
-- raised in the same step that adds the member, so the order of numbers is the order of entry, and a
-- repeat finds the first place. A repeat without the current ticket is a takeover: the generation
-- grows, the number stays.
--@include queue
--@include places
--@include turn
--@include set_aside
--@include locate
--@include ticket
--@include position

if arg_visitor == '1' and conf.identity ~= 'visitor' then
    return { 'UNAUTHENTICATED' }
end

local kind, it = locate(arg_member)
if kind == 'EXPIRED' then
    drop_expired(arg_member, it)
    kind, it = 'NONE', nil
end
if ticket_survived_a_loss() then
    kind, it = seat_again(arg_member, kind, it, ticket)
end

if kind ~= 'NONE' then
    if not ticket_is_current(it) then
        it.generation = (it.generation + 1) % GENERATIONS
    end
    if kind == 'WAITING' then
        stand_in_line(arg_member, it.seq, it.generation)
    elseif kind == 'AWAY' then
        come_back(arg_member, it)
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
    return { 'SOLD_OUT' }
end
local most = tonumber(conf.maxWaiting)
if most > 0 and redis.call('ZCARD', key_waiting) >= most then
    return { 'QUEUE_FULL' }
end

local seq = redis.call('HINCRBY', key_state, 'seq', 1)
redis.call('HINCRBY', key_state, 'entered', 1)
stand_in_line(arg_member, seq, 0)
return position_answer('ENTERED', arg_member, 'WAITING', { seq = seq, generation = 0 })
