#!lua
-- promote: one tick of one queue: collect what has run out, refill the rate, let the next ones in.
--@keys settings state waiting away awayUntil places ready pickup claimed unpaid departures tombstones tombstoneUntil seated series arrivals leader priority draw drawn drawGone drawLeft orderLoad promises
--@args owner poolSeen poolSilentMs poolSilence awayMs
-- poolSeen: Redis TIME of the order pool's last sign of life in ms, -1 for never; poolSilentMs: ms of its
-- outages that ended; poolSilence: from when on a silence is an outage, 0: no order pool is needed; awayMs:
-- how long one who did not come back keeps the number;
-- then, as many as may be let in at most: entry token, admission id, entry token, admission id, …
-- Returns {OK, admitted, expired, withdrawn, more 0|1, waiting, ready, claimed, unpaid, queueState,
-- frozen 0|1, the draw is to be put down 0|1, the highest number let in so far}, or NOT_LEADER, NOT_FOUND. more: there was more to do than one
-- call may. The draw: a lottery's list is closed, and nobody behind it is let in before it was drawn.
-- Safe because the leader lock is looked at in the same step that acts, so a leader that slept through
-- its lock does nothing; the rate is a bucket refilled by Redis TIME, so any number of schedulers share
-- it; leaving the line and getting the token are one step. A CLAIMED place is never collected here. Those in
-- the priority lane get their share of each call first; what a call could not divide is carried over.
if redis.call('GET', key_leader) ~= arg_owner then
    return { 'NOT_LEADER' }
end
--@include queue
--@include places
--@include turn
--@include set_aside
--@include draw
--@include lanes
--@include walk
--@include rate
--@include bucket
--@include promise_kept

local CLEANUP = 200
for name, value in pairs(hash_fields(key_settings, 'maxActive', 'batchCap', 'entryTtlSeconds', 'pickupSeconds')) do
    conf[name] = tonumber(value)
end
for name, value in pairs(hash_fields(key_state, 'bucket', 'bucketAt', 'frozenEnd', 'admittedEma',
    'recoveringUntil', 'sampledAt', 'prunedTo', 'poolSilentMs', 'awayMs', 'admittedBetweenTicks',
    'lastServedSeq', 'longestWaitMs', 'priorityCarry')) do
    run[name] = tonumber(value)
end
local seen, silence = tonumber(arg_poolSeen), tonumber(arg_poolSilence)
local silent_ms, away_ms = tonumber(arg_poolSilentMs), tonumber(arg_awayMs)
local age = seen < 0 and -1 or math.max(now - seen, 0)

-- The outage began at the last sign of life, not when it was noticed. While everyone is held nothing can be
-- bought either: whoever is in comes back to the same place.
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
    -- An outage that began and ended while no tick looked.
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

-- What ran out after the last sign of life may have run out in an outage that is not noticed yet.
local collect_before = virtual_now
if silence > 0 and not outage then
    collect_before = virtual_now - age
end
-- Whoever has not seen the token is set aside with the number, also where the token's life is over.
local withdrawn = redis.call('ZRANGEBYSCORE', key_pickup, '-inf', collect_before, 'LIMIT', 0, CLEANUP)
local over = redis.call('ZRANGEBYSCORE', key_ready, '-inf', collect_before, 'LIMIT', 0, CLEANUP)
for _, member in ipairs(withdrawn) do
    set_aside(member, place_of(member), away_ms)
end
local expired = {}
for _, member in ipairs(over) do
    local place = place_of(member)
    if redis.call('ZSCORE', key_pickup, member) then
        set_aside(member, place, away_ms)
        withdrawn[#withdrawn + 1] = member
    elseif place then
        turn_is_over(place.seq)
        redis.call('ZREM', key_ready, member)
        redis.call('HDEL', key_places, member)
        expired[#expired + 1] = member
    end
end

local gone = redis.call('ZRANGEBYSCORE', key_awayUntil, '-inf', now, 'LIMIT', 0, CLEANUP)
if #gone > 0 then
    redis.call('ZREM', key_away, unpack(gone))
    redis.call('ZREM', key_awayUntil, unpack(gone))
end
local stale = redis.call('ZRANGEBYSCORE', key_tombstoneUntil, '-inf', now, 'LIMIT', 0, CLEANUP)
if #stale > 0 then
    redis.call('HDEL', key_tombstones, unpack(stale))
    redis.call('ZREM', key_tombstoneUntil, unpack(stale))
end

local elapsed = math.max(now - (run.bucketAt or now), 0)
local _, bucket = look_into_bucket(rate_in_force(), burst_in_force())

local state = queue_state()
local open = (state == 'OPEN' or state == 'DRAINING') and conf.activation ~= 'hold' and not outage
    and now >= (run.recoveringUntil or 0)
local ready, claimed = redis.call('ZCARD', key_ready), redis.call('ZCARD', key_claimed)
local unpaid = redis.call('HLEN', key_unpaid)
local room = open and math.floor(math.min(bucket, conf.maxActive - ready - claimed - unpaid, conf.batchCap)) or 0
local FIRST_TOKEN = 6
local given = math.floor((#ARGV - FIRST_TOKEN + 1) / 2)
local may_admit = math.max(math.min(room, given), 0)

local from_drawn, from_waiting, more_to_draw = lottery_step(now >= (run.recoveringUntil or 0), may_admit)
local from_priority = redis.call('ZCARD', key_priority)
local waiting = in_line()
local could_be_let_in = from_priority + from_drawn + from_waiting

-- The share of the priority lane, with what earlier calls could not divide. Nothing is saved up while one
-- of the lanes has nobody, and what one lane cannot use goes to the other.
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

-- What everyone may read afterwards. Whoever comes back with an old number has not waited all the time.
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

-- Members and their scores by numbers, as they are let in.
local next_ones = {}
local function take_from(set, count, score_of)
    local popped = count > 0 and redis.call('ZPOPMIN', set, count) or {}
    for i = 1, #popped, 2 do
        next_ones[#next_ones + 1] = popped[i]
        next_ones[#next_ones + 1] = score_of and score_of(tonumber(popped[i + 1])) or tonumber(popped[i + 1])
    end
end

if admitted > 0 then
    take_from(key_priority, from_priority, function(score)
        return score < 0 and score + INVITED * GENERATIONS or score
    end)
    take_from(key_drawn, from_drawn, function(score)
        local generation = score % GENERATIONS
        return number_of_place((score - generation) / GENERATIONS) * GENERATIONS + generation
    end)
    take_from(key_waiting, from_waiting)
    local places, deadlines, pickups = {}, {}, {}
    local deadline = virtual_now + conf.entryTtlSeconds * 1000
    local pickup = virtual_now + conf.pickupSeconds * 1000
    local first_new, last_number, count_new = nil, run.lastServedSeq or 0, 0
    for i = 1, #next_ones, 2 do
        local member, score = next_ones[i], next_ones[i + 1]
        local seq = math.floor(score / GENERATIONS)
        local record = place_record({
            seq = seq,
            generation = score % GENERATIONS,
            token = ARGV[FIRST_TOKEN + i - 1],
            admission = ARGV[FIRST_TOKEN + i],
            claim = '',
            key_hash = '',
            remaining = 0,
        })
        places[i], places[i + 1] = member, record
        deadlines[i], deadlines[i + 1] = deadline, member
        pickups[i], pickups[i + 1] = pickup, member
        if seq > (run.lastServedSeq or 0) then
            first_new = math.min(first_new or seq, seq)
            last_number = math.max(last_number, seq)
            count_new = count_new + 1
        end
    end
    redis.call('HSET', key_places, unpack(places))
    redis.call('ZADD', key_ready, unpack(deadlines))
    redis.call('ZADD', key_pickup, unpack(pickups))
    note_served(first_new, last_number, count_new)
end

-- The estimate follows what really happened while there was somebody to let in.
local function moving_average(old, count, seconds)
    if elapsed == 0 then
        return old
    end
    local weight = 1 - math.exp(-elapsed / (seconds * 1000))
    return old + weight * (count * 1000 / elapsed - old)
end
local rate_ema = tonumber(run.rateEma or rate_in_force())
if could_be_let_in > 0 and open then
    rate_ema = moving_average(rate_ema, admitted, 10)
end
local at_once = run.admittedBetweenTicks or 0
redis.call('HSET', key_state, 'bucket', string.format('%.6f', bucket - admitted), 'bucketAt', now,
    'rateEma', string.format('%.6f', rate_ema),
    'admittedEma', string.format('%.6f', moving_average(run.admittedEma or 0, admitted + at_once, 5)),
    'admittedBetweenTicks', 0)

local function count(name, by)
    if by > 0 then
        redis.call('HINCRBY', key_state, name, by)
    end
end
count('admitted', admitted)
count('expired', #expired)
count('withdrawn', #withdrawn)

-- Ranges that lie wholly behind the head are of use to nobody.
local head = redis.call('ZRANGE', key_waiting, 0, 0, 'WITHSCORES')
if head[2] then
    local range = math.floor(tonumber(head[2]) / GENERATIONS / 1024)
    local pruned = run.prunedTo or 0
    if range > pruned then
        for old = pruned, math.min(range, pruned + CLEANUP) - 1 do
            redis.call('HDEL', key_departures, old)
        end
        redis.call('HSET', key_state, 'prunedTo', math.min(range, pruned + CLEANUP))
    end
    for _, second in ipairs(redis.call('ZRANGEBYSCORE', key_arrivals, '-inf',
        math.floor(tonumber(head[2]) / GENERATIONS) - 1, 'LIMIT', 0, CLEANUP)) do
        redis.call('ZREM', key_arrivals, second)
        redis.call('HDEL', key_promises, second)
    end
end

-- One sample a second, a quarter of an hour long. The latencies are those that the leader has worked out last.
local second = math.floor(now / 1000)
if second > (run.sampledAt or 0) then
    local totals = redis.call('HMGET', key_state, 'entered', 'admitted', 'consumed', 'expired', 'left', 'withdrawn')
    for i = 1, 6 do
        totals[i] = totals[i] or '0'
    end
    local known = redis.call('HMGET', key_state, 'orderP50', 'orderP95', 'orderP99', 'promisedWait', 'actualWait')
    for i = 1, 5 do
        known[i] = known[i] or ''
    end
    local failed = redis.call('HMGET', key_orderLoad, 'errors', 'timeouts')
    redis.call('HSET', key_state, 'sampledAt', second)
    redis.call('RPUSH', key_series, string.format('%d,%d,%d,%d,%s,%.0f,%s,%s,%s,%.0f,%s,%s', second, waiting - admitted,
        ready + admitted, claimed, table.concat(totals, ','), rate_in_force() * 1000, known[1], known[2], known[3],
        (failed[1] or 0) + (failed[2] or 0), known[4], known[5]))
    redis.call('LTRIM', key_series, -900, -1)
end

local more = more_to_draw and 1 or 0
for _, collected in ipairs({ over, withdrawn, gone, stale }) do
    if #collected >= CLEANUP then
        more = 1
    end
end
return { 'OK', admitted, #expired, #withdrawn, more, waiting - admitted, ready + admitted, claimed, unpaid,
    state, outage and 1 or 0, is_closed_undrawn() and 1 or 0, tonumber(run.lastServedSeq or 0) }
