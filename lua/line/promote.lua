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

local CLEANUP = 100 -- things a call, of all kinds together
for name, value in pairs(hash_fields(key_settings, 'maxActive', 'batchCap', 'entryTtlSeconds', 'pickupSeconds')) do
    conf[name] = tonumber(value)
end
for name, value in pairs(hash_fields(key_state, 'bucket', 'bucketAt', 'frozenEnd', 'admittedEma',
    'recoveringUntil', 'sampledAt', 'prunedTo', 'poolSilentMs', 'awayMs', 'admittedBetweenTicks',
    'lastServedSeq', 'longestWaitMs', 'priorityCarry', 'tickAt', 'tickLength', 'tickSampled', 'mainFront', 'countedFrom')) do
    run[name] = tonumber(value)
end
local seen, silence = tonumber(arg_poolSeen), tonumber(arg_poolSilence)
local silent_ms, away_ms = tonumber(arg_poolSilentMs), tonumber(arg_awayMs)
local age = seen < 0 and -1 or math.max(now - seen, 0)

-- The outage began at the last heartbeat, not when it was noticed. Activation hold freezes the clock too, since nothing can
-- be bought meanwhile: members with a place keep the time that they had left.
local outage = silence > 0 and (age < 0 or age > silence)
local stands_still = outage or conf.activation == 'hold'
if stands_still and frozen_since == 0 then
    frozen_since = math.max(outage and now - math.max(age, 0) or now, run.frozenEnd or 0)
    redis.call('HSET', key_state, 'frozenSince', frozen_since)
    virtual_now = virtual_now - (now - frozen_since)
elseif not stands_still and frozen_since > 0 then
    redis.call('HINCRBY', key_state, 'frozenMs', now - frozen_since)
    redis.call('HSET', key_state, 'frozenSince', 0, 'frozenEnd', now)
elseif not stands_still and silent_ms > (run.poolSilentMs or silent_ms) then
    -- An outage that began and ended between two ticks.
    local missed = silent_ms - run.poolSilentMs
    redis.call('HINCRBY', key_state, 'frozenMs', missed)
    redis.call('HSET', key_state, 'frozenEnd', now)
    virtual_now = virtual_now - missed
end
if not outage and silent_ms ~= run.poolSilentMs then
    redis.call('HSET', key_state, 'poolSilentMs', silent_ms)
end
if away_ms ~= run.awayMs then
    redis.call('HSET', key_state, 'awayMs', away_ms)
end

-- What expired after the last heartbeat may have expired in an outage that is not noticed yet.
local collect_before = virtual_now
if silence > 0 and not outage then
    collect_before = virtual_now - age
end
local left, more = CLEANUP, 0
local function run_out(set, moment)
    local found = redis.call('ZRANGEBYSCORE', set, '-inf', moment, 'LIMIT', 0, left)
    if #found >= left then
        more = 1
    end
    left = left - #found
    return found
end
-- A member who has not picked the token up is set aside with the number, even where the token has expired.
local withdrawn = run_out(key_pickup, collect_before)
local over = run_out(key_ready, collect_before)
local expired = {}
if #over > 0 then
    local is_withdrawn = {}
    for _, member in ipairs(withdrawn) do
        is_withdrawn[member] = true
    end
    local unseen = redis.call('ZMSCORE', key_pickup, unpack(over))
    for i, member in ipairs(over) do
        if not is_withdrawn[member] then
            local where = unseen[i] and withdrawn or expired
            where[#where + 1] = member
        end
    end
end
if #withdrawn > 0 then
    local numbers, ends = {}, {}
    local until_when = string.format('%.0f', now + away_ms)
    for i, record in ipairs(redis.call('HMGET', key_places, unpack(withdrawn))) do
        local place = record and read_record(record)
        if place then
            numbers[#numbers + 1] = string.format('%d', place.seq * GENERATIONS + place.generation)
            numbers[#numbers + 1] = withdrawn[i]
            ends[#ends + 1] = until_when
            ends[#ends + 1] = withdrawn[i]
        end
    end
    redis.call('ZREM', key_pickup, unpack(withdrawn))
    redis.call('ZREM', key_ready, unpack(withdrawn))
    redis.call('HDEL', key_places, unpack(withdrawn))
    if #numbers > 0 then
        redis.call('ZADD', key_away, unpack(numbers))
        redis.call('ZADD', key_awayUntil, unpack(ends))
    end
end
if #expired > 0 then
    local found = {}
    for i, record in ipairs(redis.call('HMGET', key_places, unpack(expired))) do
        local place = record and read_record(record)
        if place then
            end_turn(place.seq)
            found[#found + 1] = expired[i]
        end
    end
    expired = found
    if #expired > 0 then
        redis.call('ZREM', key_ready, unpack(expired))
        redis.call('HDEL', key_places, unpack(expired))
    end
end

local gone = run_out(key_awayUntil, now)
if #gone > 0 then
    redis.call('ZREM', key_away, unpack(gone))
    redis.call('ZREM', key_awayUntil, unpack(gone))
end
local stale = run_out(key_tombstoneUntil, now)
if #stale > 0 then
    redis.call('HDEL', key_tombstones, unpack(stale))
    redis.call('ZREM', key_tombstoneUntil, unpack(stale))
end

local _, bucket = look_into_bucket(rate_in_force(), burst_in_force())

local state = queue_state()
local open = (state == 'OPEN' or state == 'DRAINING') and conf.activation ~= 'hold' and not outage
    and now >= (run.recoveringUntil or 0)
local ready, claimed = redis.call('ZCARD', key_ready), redis.call('ZCARD', key_claimed)
local unpaid = redis.call('HLEN', key_unpaid)
local room = open and math.floor(math.min(bucket, conf.maxActive - ready - claimed - unpaid)) or 0
local BEFORE_TOKENS = 6
local may_admit = math.max(math.min(room, #ARGV - BEFORE_TOKENS, conf.batchCap), 0)

local from_drawn, from_waiting, more_to_draw = lottery_step(now >= (run.recoveringUntil or 0), may_admit)
local from_priority = redis.call('ZCARD', key_priority)
local waiting = in_line()
local could_be_let_in = from_priority + from_drawn + from_waiting

-- The share of the priority lane, with the remainder of earlier calls. Nothing is carried over while one of the lanes is
-- empty, and what one lane cannot use goes to the other.
do
    local others = from_drawn + from_waiting
    local carried = (from_priority > 0 and others > 0) and run.priorityCarry or 0
    local quota = may_admit * tonumber(conf.priorityShare or 0.5) + carried
    local whole = math.floor(quota + 1e-9)
    local first = math.min(whole, may_admit, from_priority)
    others = math.min(may_admit - first, others)
    first = math.min(may_admit - others, from_priority)
    carried = (first == whole and from_priority > first) and math.max(quota - whole, 0) or 0
    if carried ~= (run.priorityCarry or 0) then
        redis.call('HSET', key_state, 'priorityCarry', string.format('%.6f', carried))
    end
    from_priority = first
    from_drawn = math.min(others, from_drawn)
    from_waiting = others - from_drawn
end
local admitted = from_priority + from_drawn + from_waiting

-- How long the owner of a number has waited, to the second.
local function waited_ms(seq)
    local second = redis.call('ZRANGEBYSCORE', key_arrivals, seq, '+inf', 'LIMIT', 0, 1)[1]
    return second and math.max(now - second * 1000, 0) or 0
end

-- Public figures. Numbers at or below the highest served before do not count: their members did not wait all the time.
local function note_served(first_new, last, count_new)
    redis.call('HSETNX', key_state, 'firstAdmittedAt', now)
    redis.call('HSET', key_state, 'lastAdmittedAt', now)
    if first_new then
        local last_wait = waited_ms(last)
        run.lastServedSeq = last
        redis.call('HSET', key_state, 'lastServedSeq', last, 'lastWaitMs', last_wait,
            'longestWaitMs', math.max(run.longestWaitMs or 0, waited_ms(first_new), last_wait))
        compare_with_promise(last, count_new)
    end
end

-- Lets in the first `count` of a lane. Most of a member's cost is formatting numbers: each is formatted once, as an integer,
-- which is several times cheaper than the conversion that Lua or Redis would do.
local places, deadlines = {}, {}
local served_before = tonumber(run.lastServedSeq or 0)
local first_new, last_number, count_new = nil, served_before, 0
local last_of_main = nil
local function let_in(set, count, deadline, number_of)
    local popped = count > 0 and redis.call('ZPOPMIN', set, count) or {}
    local format, tokens, n = string.format, ARGV, #places
    local token = BEFORE_TOKENS + n / 2
    for i = 1, #popped, 2 do
        local member, score = popped[i], tonumber(popped[i + 1])
        local generation = score % GENERATIONS
        local seq = (score - generation) / GENERATIONS
        if number_of then
            seq = number_of(seq)
        end
        token = token + 1
        -- As place_record() writes it, unclaimed.
        places[n + 1] = member
        places[n + 2] = format('%d', seq) .. '/' .. (generation == 0 and '0' or format('%d', generation)) .. '/'
            .. tokens[token] .. '///0'
        deadlines[n + 1], deadlines[n + 2] = deadline, member
        n = n + 2
        if seq > served_before then
            first_new = (first_new and first_new < seq) and first_new or seq
            last_number = last_number > seq and last_number or seq
            count_new = count_new + 1
        end
        last_of_main = set == key_waiting and seq or nil
    end
end

if admitted > 0 then
    local deadline = string.format('%.0f', virtual_now + conf.entryTtlSeconds * 1000)
    local pickup = string.format('%.0f', virtual_now + conf.pickupSeconds * 1000)
    let_in(key_priority, from_priority, deadline, function(seq)
        return seq < 0 and seq + INVITED or seq
    end)
    let_in(key_drawn, from_drawn, deadline, number_of_place)
    let_in(key_waiting, from_waiting, deadline)
    run.mainFront = math.max(run.mainFront or 0, last_of_main or 0)
    redis.call('HSET', key_places, unpack(places))
    redis.call('ZADD', key_ready, unpack(deadlines))
    for i = 1, #deadlines, 2 do
        deadlines[i] = pickup
    end
    redis.call('ZADD', key_pickup, unpack(deadlines))
    note_served(first_new, last_number, count_new)
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
count('expired', #expired)
count('withdrawn', #withdrawn)

-- Prunes ranges that lie entirely before the head of the line.
local head = redis.call('ZRANGE', key_waiting, 0, 0, 'WITHSCORES')
if head[2] then
    local range = math.floor(tonumber(head[2]) / GENERATIONS / 1024)
    local pruned = run.prunedTo or 0
    if range > pruned then
        local ranges = {}
        for old = pruned, math.min(range, pruned + CLEANUP) - 1 do
            ranges[#ranges + 1] = old
        end
        redis.call('HDEL', key_departures, unpack(ranges))
        redis.call('HDEL', key_marks, unpack(ranges))
        redis.call('HSET', key_state, 'prunedTo', math.min(range, pruned + CLEANUP),
            'mainFront', math.max(run.mainFront or 0, math.floor(tonumber(head[2]) / GENERATIONS) - 1))
    end
    local seconds = redis.call('ZRANGEBYSCORE', key_arrivals, '-inf',
        math.floor(tonumber(head[2]) / GENERATIONS) - 1, 'LIMIT', 0, CLEANUP)
    if #seconds > 0 then
        redis.call('ZREM', key_arrivals, unpack(seconds))
        redis.call('HDEL', key_promises, unpack(seconds))
    end
end

-- One sample a second, kept for 15 minutes. The latencies are those that the leader recorded last. A sample taken by an
-- earlier call of this tick is replaced, so that it covers the whole tick.
if is_new_second or (again and admitted > 0) then
    local totals = redis.call('HMGET', key_state, 'entered', 'admitted', 'consumed', 'expired', 'left', 'withdrawn')
    for i = 1, 6 do
        totals[i] = totals[i] or '0'
    end
    local known = redis.call('HMGET', key_state, 'orderP50', 'orderP95', 'orderP99', 'promisedWait', 'actualWait')
    for i = 1, 5 do
        known[i] = known[i] or ''
    end
    local failed = redis.call('HMGET', key_orderLoad, 'errors', 'timeouts')
    if again then
        redis.call('RPOP', key_series)
    end
    redis.call('RPUSH', key_series, string.format('%d,%d,%d,%d,%s,%.0f,%s,%s,%s,%.0f,%s,%s', second, waiting - admitted,
        ready + admitted, claimed, table.concat(totals, ','), rate_in_force() * 1000, known[1], known[2], known[3],
        (failed[1] or 0) + (failed[2] or 0), known[4], known[5]))
    redis.call('LTRIM', key_series, -900, -1)
end

if more_to_draw or (admitted > 0 and room > admitted and could_be_let_in > admitted) then
    more = 1
end
return { 'OK', admitted, #expired, #withdrawn, more, waiting - admitted, ready + admitted, claimed, unpaid, state,
    outage and 1 or 0, is_closed_undrawn() and 1 or 0, tonumber(run.lastServedSeq or 0) }
