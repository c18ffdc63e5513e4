-- line_membership: adds members to the line and removes them, by lane.
-- Needs KEYS as include lanes, settings, state, away, awayUntil, departures, drawGone, drawLeft, laneNumbers, and
-- includes queue, set_aside, draw, lanes, marks.

-- Whether a number takes part in the draw, before it is held.
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

-- The bit of a number of lane priority or invite in laneNumbers; a bitmap has at most 2^32 bits.
local function lane_bit(seq, lane)
    return 2 * seq % 4294967296 + (lane == 'invite' and 1 or 0)
end

-- The lane of a number whose owner is not in line.
local function lane_of(seq)
    if redis.call('GETBIT', key_laneNumbers, lane_bit(seq, 'invite')) == 1 then
        return 'invite'
    elseif redis.call('GETBIT', key_laneNumbers, lane_bit(seq, 'priority')) == 1 then
        return 'priority'
    elseif the_draw() then
        return place_of_number(seq) and 'lottery' or 'main'
    end
    return is_listed(seq) and 'lottery' or 'main'
end

-- Adds the member to the line, or updates the generation there; `it` needs seq, generation and lane.
local function stand_in_line(member, it)
    local score = it.seq * GENERATIONS + it.generation
    it.set = key_waiting
    if it.lane == 'priority' or it.lane == 'invite' then
        it.set = key_priority
        redis.call('SETBIT', key_laneNumbers, lane_bit(it.seq, it.lane), 1)
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

-- Records that a number is not, or no longer, in line. Departures by ranges of 1024 numbers let a position be computed from
-- a number alone; ranks of the draw subtract its empty places.
local function number_is_missing(lane, seq, place)
    if lane == 'main' then
        redis.call('HINCRBY', key_departures, math.floor(seq / 1024), 1)
        mark_number(seq, MARK_GONE)
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

-- Puts a member who was set aside back in line at the same number, in the same lane or in `lane`.
local function come_back(member, it, lane)
    redis.call('ZREM', key_away, member)
    redis.call('ZREM', key_awayUntil, member)
    it.lane = lane or lane_of(it.seq)
    stand_in_line(member, it)
    if it.lane == 'main' then
        mark_number(it.seq, MARK_ASK)
    end
end
