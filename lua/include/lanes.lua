-- lanes: the sets that a line is made of, and who stands where in them.
-- Lane main stands in `waiting`. Lanes priority and invite stand in `priority`, the invited first. Lane
-- lottery stands in `draw` in order of numbers, and is moved to `drawn`, in order of the places drawn, as
-- the draw is walked off; drawCursor is the first place that was not walked over yet. Scores are
-- number * GENERATIONS + generation, in `drawn` place * GENERATIONS + generation.
-- Needs KEYS settings, state, waiting, priority, draw, drawn, and the functions: drawGone, drawLeft, departures,
-- laneNumbers; includes queue, set_aside, draw.
local INVITED = 1099511627776 -- 2^40: so far in front of the lane's others

local draw_cursor = tonumber(run.drawCursor or 0)

local function in_lottery()
    return redis.call('ZCARD', key_draw) + redis.call('ZCARD', key_drawn)
end

local function in_line()
    return redis.call('ZCARD', key_waiting) + redis.call('ZCARD', key_priority) + in_lottery()
end

-- Whoever enters now takes part in the draw: it is to be held, and its list is open.
local function draw_is_open()
    local opens = tonumber(conf.opensAt)
    return conf.mode == 'lottery' and not the_draw() and run.drawClosed ~= '1' and opens ~= nil and now < opens
end

-- The draw's list is to be closed: the opening has come.
local function draw_is_due()
    local opens = tonumber(conf.opensAt)
    return conf.mode == 'lottery' and not the_draw() and run.drawClosed ~= '1' and opens ~= nil and now >= opens
end

-- Where a member stands in line: number, generation, lane, set and, in a draw that was held, the place;
-- nil for one who does not.
local function find_in_line(member)
    local set, score = key_waiting, redis.call('ZSCORE', key_waiting, member)
    for _, other in ipairs({ key_priority, key_draw, key_drawn }) do
        if not score then
            set, score = other, redis.call('ZSCORE', other, member)
        end
    end
    if not score then
        return nil
    end
    score = tonumber(score)
    local it = { seq = math.floor(score / GENERATIONS), generation = score % GENERATIONS, set = set }
    if set == key_waiting then
        it.lane = 'main'
    elseif set == key_priority then
        it.lane = it.seq < 0 and 'invite' or 'priority'
        it.seq = it.seq < 0 and it.seq + INVITED or it.seq
    else
        it.lane = 'lottery'
        if set == key_drawn then
            it.place, it.seq = it.seq, number_of_place(it.seq)
        else
            it.place = place_of_number(it.seq)
        end
    end
    return it
end

-- Whether a number is on the list that is to be drawn from.
local function is_listed(seq)
    if run.drawClosed ~= '1' then
        return run.drawFirst ~= nil and seq >= tonumber(run.drawFirst) and seq <= tonumber(run.drawLast)
    end
    for from, to in string.gmatch(redis.call('HGET', key_state, 'drawRanges') or '', '(%d+)%-(%d+)') do
        if seq >= tonumber(from) and seq <= tonumber(to) then
            return true
        end
    end
    return false
end

-- The lane of a number whose owner does not stand in line.
local function lane_of(seq)
    if redis.call('GETBIT', key_laneNumbers, 2 * seq + 1) == 1 then
        return 'invite'
    elseif redis.call('GETBIT', key_laneNumbers, 2 * seq) == 1 then
        return 'priority'
    elseif the_draw() then
        return place_of_number(seq) and 'lottery' or 'main'
    end
    return is_listed(seq) and 'lottery' or 'main'
end

-- Stands in line, or goes on standing there with another generation; `it` needs seq, generation and lane.
local function stand_in_line(member, it)
    local score = it.seq * GENERATIONS + it.generation
    it.set = key_waiting
    if it.lane == 'priority' or it.lane == 'invite' then
        it.set = key_priority
        redis.call('SETBIT', key_laneNumbers, 2 * it.seq + (it.lane == 'invite' and 1 or 0), 1)
        score = score - (it.lane == 'invite' and INVITED * GENERATIONS or 0)
    elseif it.lane == 'lottery' then
        it.set = key_draw
        it.place = place_of_number(it.seq)
        if it.place and it.place < draw_cursor then
            it.set = key_drawn
            score = it.place * GENERATIONS + it.generation
        elseif it.place then
            redis.call('ZREM', key_drawGone, it.place)
        end
    end
    redis.call('ZADD', it.set, score, member)
end

-- This number stands in line no more, or never did, though those around it do. Departures by ranges of
-- 1024 numbers let a place be computed from a number alone; ranks of the draw count its empty places.
local function number_is_missing(lane, seq, place)
    if lane == 'main' then
        redis.call('HINCRBY', key_departures, math.floor(seq / 1024), 1)
    end
    if place and place >= draw_cursor then
        redis.call('ZADD', key_drawGone, place, place)
    elseif not place and conf.mode == 'lottery' and not the_draw() then
        redis.call('RPUSH', key_drawLeft, seq)
    end
end

local function step_out(member, it)
    redis.call('ZREM', it.set, member)
    number_is_missing(it.lane, it.seq, it.place)
end
