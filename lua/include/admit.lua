-- admit: lets in the first members of each lane, with tokens that the caller has made.
-- Needs KEYS state, waiting, priority, drawn, places, ready, pickup, arrivals, promises, ARGV from ARGS_BEFORE_TOKENS + 1 on:
-- admission id/entry token of each member, includes queue, draw, lanes, promise_kept, and run with lastServedSeq, longestWaitMs,
-- mainFront. Sets run.lastServedSeq and run.mainFront.

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
    local token = ARGS_BEFORE_TOKENS + n / 2
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

local function admit(from_priority, from_drawn, from_waiting)
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
