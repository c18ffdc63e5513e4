#!lua
-- enter_together: a batch of members take places in the main line, or get those already held.
--@keys settings state waiting away places unpaid arrivals priority draw drawn promises
--@args visitor
-- then member, ticket, member, ticket, …: at most 100 pairs. visitor is 1 where all are known by the visitor cookie alone;
-- a ticket is "seq generation epoch incarnation", '' without one.
-- Returns {OK, ordinary 0|1}, and where that is 1: queueState, waiting before, rate (admissions per 1000 seconds), epoch,
-- incarnation, now in ms, activation, pollTiers, and for each member, in order: rank, seq, generation. Rank -1: nothing was
-- done for this member, call enter. Members who were there already have a rank below `waiting before`, new ones have not.
-- Safe for the same reasons as enter, whose fast path (include main_line) this is for many: the counter is raised by the
-- number of new members in the step that adds them. Any other case, takeovers too, is left to enter.
--@include settings
--@include run_front
--@include queue_state
--@include promise
if not run.rateEma or conf.mode == 'lottery' or conf.admitWhenIdle == '1' or conf.entryCaptcha == 'altcha'
    or (arg_visitor == '1' and conf.identity ~= 'visitor')
    or redis.call('EXISTS', key_priority, key_draw, key_drawn) ~= 0 then
    return { 'OK', 0 }
end

local FIRST, MOST = 2, 100
local members, tickets = {}, {}
for i = FIRST, math.min(#ARGV - 1, FIRST + 2 * MOST - 1), 2 do
    members[#members + 1] = ARGV[i]
    tickets[#tickets + 1] = ARGV[i + 1]
end

-- The ticket is the current one of a place in line, also where it was signed before a loss that the place survived.
local function is_current(ticket, score)
    local seq, generation, epoch = string.match(ticket, '^(%d+) (%d+) (%d+) %d+$')
    return epoch == conf.epoch and seq * 4096 + generation == tonumber(score)
end

local function is_from_before_a_loss(ticket)
    local epoch, incarnation = string.match(ticket, '^%d+ %d+ (%d+) (%d+)$')
    return epoch == conf.epoch and incarnation ~= run.incarnation
end

local state, most, rate_milli = queue_state(), tonumber(conf.maxWaiting), math.floor(tonumber(run.rateEma) * 1000)
local waiting = redis.call('ZCARD', key_waiting)
local scores = redis.call('ZMSCORE', key_waiting, unpack(members))
local answer = { 'OK', 1, state, waiting, rate_milli, tonumber(conf.epoch), tonumber(run.incarnation), now,
    conf.activation, conf.pollTiers or '' }
local BEFORE = #answer

local new, new_at, seen = {}, {}, {}
local is_open = state ~= 'CLOSED' and state ~= 'SOLD_OUT' and conf.operatorState ~= 'DRAINING'
for i, member in ipairs(members) do
    local at, rank, seq, generation = BEFORE + 3 * i - 2, -1, 0, 0
    local score, ticket = scores[i], tickets[i]
    if not seen[member] then
        seen[member] = true
        if score and ticket ~= '' and is_current(ticket, score) then
            generation = score % 4096
            seq, rank = (score - generation) / 4096, redis.call('ZRANK', key_waiting, member)
        elseif not score and is_open and (ticket == '' or not is_from_before_a_loss(ticket)) then
            new[#new + 1] = member
            new_at[#new_at + 1] = at
        end
    end
    answer[at], answer[at + 1], answer[at + 2] = rank, seq, generation
end
if #new == 0 then
    return answer
end

-- New members hold no place, no unpaid order and no number set aside.
local places = redis.call('HMGET', key_places, unpack(new))
local unpaid = redis.call('HMGET', key_unpaid, unpack(new))
local away = redis.call('ZMSCORE', key_away, unpack(new))
local comes, comes_at = {}, {}
for i, member in ipairs(new) do
    if not places[i] and not unpaid[i] and not away[i] and (most == 0 or waiting + #comes < most) then
        comes[#comes + 1] = member
        comes_at[#comes_at + 1] = new_at[i]
    end
end
if #comes == 0 then
    return answer
end
local last = redis.call('HINCRBY', key_state, 'seq', #comes)
redis.call('HINCRBY', key_state, 'entered', #comes)
redis.call('ZADD', key_arrivals, last, math.floor(now / 1000))
local added = {}
for i, member in ipairs(comes) do
    local seq, at = last - #comes + i, comes_at[i]
    added[2 * i - 1] = seq * 4096
    added[2 * i] = member
    answer[at], answer[at + 1] = waiting + i - 1, seq
end
redis.call('ZADD', key_waiting, unpack(added))
remember_promise({ 'ENTERED', state, 'WAITING', waiting + #comes - 1, 0, '', 0, 0, rate_milli })
return answer
