#!lua
-- promote: one call of a queue's tick: collects what has expired, refills the rate, lets the next members in. A tick is as
-- many calls as it takes, each of them short.
--@keys settings state waiting away awayUntil places ready pickup claimed unpaid departures tombstones tombstoneUntil seated series arrivals leader priority draw drawn drawGone drawLeft orderLoad promises marks
--@args owner poolSeen poolSilentMs poolSilence awayMs goesOn
-- poolSeen: Redis TIME of the order pool's last heartbeat in ms, -1 for never; poolSilentMs: total of its outages that have
-- ended, in ms; poolSilence: a silence longer than this many ms is an outage, 0: no order pool is needed; awayMs: how long a
-- member who did not pick the token up keeps the number; goesOn: 1 in every call of a tick but the first;
-- then, for each member who may be let in at most: admission id/entry token
-- Returns {OK, admitted, expired, withdrawn, more 0|1, waiting, ready, claimed, unpaid, queueState, frozen 0|1,
-- draw is to be stored 0|1, highest number let in so far}, or NOT_LEADER, NOT_FOUND. more: another call would get further,
-- in collecting, in drawing, or with members whom rate and places would let in. draw is to be stored: a lottery's list is
-- closed, and nobody on it or behind it is let in before its draw is published.
-- Safe because the leader lock is checked in the step that acts, so a leader that was paused beyond its lease does nothing;
-- the rate is one bucket refilled by Redis TIME, whichever scheduler leads; leaving the line and getting the token are one
-- step. A CLAIMED place is never collected here. The priority lane gets its share of each call first; the
-- remainder that a call could not divide is carried over.
if redis.call('GET', key_leader) ~= arg_owner then
    return { 'NOT_LEADER' }
end
--@include queue
--@include places
--@include end_turn
--@include set_aside
--@include draw
--@include lanes
--@include draw_walk
--@include rate
--@include bucket
--@include promise_kept
--@include lane_shares
--@include collect_expired
--@include prune_line
--@include sample_series

for name, value in pairs(hash_fields(key_settings, 'maxActive', 'batchCap', 'entryTtlSeconds', 'pickupSeconds')) do
    conf[name] = tonumber(value)
end
for name, value in pairs(hash_fields(key_state, 'bucket', 'bucketAt', 'frozenEnd', 'admittedEma',
    'recoveringUntil', 'sampledAt', 'prunedTo', 'poolSilentMs', 'awayMs', 'admittedBetweenTicks',
    'lastServedSeq', 'longestWaitMs', 'priorityCarry', 'tickAt', 'tickLength', 'tickSampled', 'mainFront', 'countedFrom')) do
    run[name] = tonumber(value)
end
local ARGS_BEFORE_TOKENS = 6
--@include admit
--@include outage_clock
local away_ms = tonumber(arg_awayMs)
if away_ms ~= run.awayMs then
    redis.call('HSET', key_state, 'awayMs', away_ms)
end
local expired, withdrawn = collect_expired(collect_before, away_ms)

local _, bucket = look_into_bucket(rate_in_force(), burst_in_force())

local state = queue_state()
local open = (state == 'OPEN' or state == 'DRAINING') and conf.activation ~= 'hold' and not outage
    and now >= (run.recoveringUntil or 0)
local ready, claimed = redis.call('ZCARD', key_ready), redis.call('ZCARD', key_claimed)
local unpaid = redis.call('HLEN', key_unpaid)
local room = open and math.floor(math.min(bucket, conf.maxActive - ready - claimed - unpaid)) or 0
local may_admit = math.max(math.min(room, #ARGV - ARGS_BEFORE_TOKENS, conf.batchCap), 0)

local from_drawn, from_waiting, more_to_draw = lottery_step(now >= (run.recoveringUntil or 0), may_admit)
local from_priority = redis.call('ZCARD', key_priority)
local waiting = in_line()
local could_be_let_in = from_priority + from_drawn + from_waiting

from_priority, from_drawn, from_waiting = lane_shares(may_admit, from_priority, from_drawn, from_waiting)
local admitted = from_priority + from_drawn + from_waiting
if admitted > 0 then
    admit(from_priority, from_drawn, from_waiting)
end

-- The estimate follows the actual admissions while there is a member to let in. It counts by ticks: what a later call of a
-- tick lets in counts as if the first had, in the time since the first call of the tick before.
local goes_on = arg_goesOn == '1' or now == run.tickAt
local tick_length = goes_on and (run.tickLength or 0) or math.max(now - (run.tickAt or run.bucketAt or now), 0)
local function moving_average(old, count, seconds)
    if tick_length == 0 then
        return old
    end
    local weight = 1 - math.exp(-tick_length / (seconds * 1000))
    return old + weight * (count * 1000 / tick_length - (goes_on and 0 or old))
end
local rate_ema = tonumber(run.rateEma or rate_in_force())
if could_be_let_in > 0 and open then
    rate_ema = moving_average(rate_ema, admitted, 10)
end
local at_once = run.admittedBetweenTicks or 0
local second, sampled_at = math.floor(now / 1000), run.sampledAt or 0
local is_new_second = second > sampled_at
local again = goes_on and run.tickSampled == 1 and second == sampled_at
redis.call('HSET', key_state, 'bucket', string.format('%.6f', bucket - admitted), 'bucketAt', now,
    'rateEma', string.format('%.6f', rate_ema),
    'admittedEma', string.format('%.6f', moving_average(run.admittedEma or 0, admitted + at_once, 5)),
    'admittedBetweenTicks', 0, 'tickAt', goes_on and run.tickAt or now, 'tickLength', tick_length,
    'tickSampled', (is_new_second or again) and 1 or 0, 'sampledAt', math.max(second, sampled_at),
    'mainFront', run.mainFront or 0, 'countedFrom', run.countedFrom or tonumber(run.seq or 0) + 1)

local function count(name, by)
    if by > 0 then
        redis.call('HINCRBY', key_state, name, by)
    end
end
count('admitted', admitted)
count('expired', expired)
count('withdrawn', withdrawn)

prune_line()
if is_new_second or (again and admitted > 0) then
    sample_series(second, again, waiting - admitted, ready + admitted, claimed)
end

local more = is_cleanup_full and 1 or 0
if more_to_draw or (admitted > 0 and room > admitted and could_be_let_in > admitted) then
    more = 1
end
return { 'OK', admitted, expired, withdrawn, more, waiting - admitted, ready + admitted, claimed, unpaid, state,
    outage and 1 or 0, is_closed_undrawn() and 1 or 0, tonumber(run.lastServedSeq or 0) }
