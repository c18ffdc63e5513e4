-- draw_walk: closes the lottery's list at the opening and walks the draw, a bounded number of steps a call.
-- Needs KEYS state, waiting, draw, drawn, drawGone, drawLeft and includes queue, set_aside, draw, lanes.
local WALK_STEPS, READ_AHEAD, LIST_BLOCK = 200, 1000, 65536

-- Whether the list must be closed: the opening has come.
local function draw_is_due()
    local opens = tonumber(conf.opensAt)
    return conf.mode == 'lottery' and not the_draw() and run.drawClosed ~= '1' and opens ~= nil and now >= opens
end

-- The numbers that take part, as ranges like 1-500,900-950. A loss of Redis's memory leaves gaps; blocks without any member
-- are left out, so that the draw is not full of empty places.
local function listed_ranges()
    local ranges = {}
    local from = nil
    local function edge(command, low, high)
        local found = redis.call(command, key_draw, low, high, 'WITHSCORES', 'LIMIT', 0, 1)
        return math.floor(tonumber(found[2]) / GENERATIONS)
    end
    local first, last = tonumber(run.drawFirst), tonumber(run.drawLast)
    for block = math.floor(first / LIST_BLOCK), math.floor(last / LIST_BLOCK) + 1 do
        local low = block * LIST_BLOCK
        local somebody = redis.call('ZCOUNT', key_draw, low * GENERATIONS, (low + LIST_BLOCK) * GENERATIONS - 1) > 0
        if somebody and not from then
            from = edge('ZRANGEBYSCORE', low * GENERATIONS, '+inf')
        elseif not somebody and from then
            ranges[#ranges + 1] = string.format('%.0f-%.0f', from,
                edge('ZREVRANGEBYSCORE', low * GENERATIONS - 1, '-inf'))
            from = nil
        end
    end
    return table.concat(ranges, ',')
end

-- Afterwards no member joins the list, and its draw is not known before PostgreSQL has stored it. Without entrants there is
-- nothing to draw.
local function close_the_list()
    local ranges = redis.call('ZCARD', key_draw) > 0 and listed_ranges() or ''
    redis.call('HSET', key_state, 'drawClosed', 1, 'drawRanges', ranges)
    run.drawClosed = '1'
end

-- The list is closed and its draw not published: no member of it or behind it may be let in.
local function is_closed_undrawn()
    return run.drawClosed == '1' and not the_draw() and redis.call('ZCARD', key_draw) > 0
end

-- Marks the places of numbers whose owners left before the draw as empty.
local function note_the_missing()
    local numbers = redis.call('LRANGE', key_drawLeft, 0, WALK_STEPS - 1)
    for _, number in ipairs(numbers) do
        local place = place_of_number(tonumber(number))
        local low = number * GENERATIONS
        if place and place >= draw_cursor
            and redis.call('ZCOUNT', key_draw, low, low + GENERATIONS - 1) == 0 then
            redis.call('ZADD', key_drawGone, place, place)
        end
    end
    if #numbers > 0 then
        redis.call('LTRIM', key_drawLeft, #numbers, -1)
    end
    return #numbers
end

-- Moves the members of the next places from `draw` to `drawn`. A place known to be empty costs an eighth of a step, any
-- other a lookup of its owner.
local function walk(steps)
    local count = the_draw().count
    local gone = redis.call('ZRANGEBYSCORE', key_drawGone, draw_cursor, '+inf', 'LIMIT', 0, 8 * steps)
    local next_gone, cost, members, scores = 1, 0, {}, {}
    while draw_cursor < count and cost < steps do
        if tonumber(gone[next_gone]) == draw_cursor then
            next_gone, cost = next_gone + 1, cost + 0.125
        else
            cost = cost + 1
            local low = number_of_place(draw_cursor) * GENERATIONS
            local found = redis.call('ZRANGEBYSCORE', key_draw, low, low + GENERATIONS - 1, 'WITHSCORES')
            if found[1] then
                members[#members + 1] = found[1]
                scores[#scores + 1] = draw_cursor * GENERATIONS + (found[2] - low)
                scores[#scores + 1] = found[1]
            end
        end
        draw_cursor = draw_cursor + 1
    end
    if #members > 0 then
        redis.call('ZREM', key_draw, unpack(members))
        redis.call('ZADD', key_drawn, unpack(scores))
    end
    if next_gone > 1 then
        redis.call('ZREMRANGEBYSCORE', key_drawGone, '-inf', draw_cursor - 1)
    end
    redis.call('HSET', key_state, 'drawCursor', draw_cursor)
end

-- Moves members who are left in `draw` without a draw to walk to the main line, by their numbers.
local function stand_in_line_undrawn()
    local some = redis.call('ZRANGE', key_draw, 0, WALK_STEPS - 1, 'WITHSCORES')
    for i = 1, #some, 2 do
        redis.call('ZREM', key_draw, some[i])
        redis.call('ZADD', key_waiting, some[i + 1], some[i])
    end
end

-- One call's part of the lottery. Returns how many of `drawn` and of `waiting` may be let in after the priority lane, and
-- whether another call would get further. A call that lets many in walks less.
local function lottery_step(may_close, may_admit)
    if may_close and draw_is_due() then
        close_the_list()
    end
    local undrawn = redis.call('ZCARD', key_draw)
    local over = true
    local more = false
    if the_draw() then
        local noted = note_the_missing()
        if draw_cursor < the_draw().count and redis.call('ZCARD', key_drawn) < READ_AHEAD then
            walk(WALK_STEPS - noted - math.floor(math.min(may_admit, redis.call('ZCARD', key_drawn)) / 2))
        end
        over = draw_cursor >= the_draw().count
        more = noted == WALK_STEPS or (not over and redis.call('ZCARD', key_drawn) < READ_AHEAD / 2)
        if over and undrawn > 0 then
            stand_in_line_undrawn()
        end
    elseif undrawn > 0 and conf.mode == 'fifo' and run.drawClosed ~= '1' then
        stand_in_line_undrawn()
        over = redis.call('ZCARD', key_draw) == 0
        more = not over
    elseif undrawn > 0 then
        over = false
    end
    return redis.call('ZCARD', key_drawn), over and redis.call('ZCARD', key_waiting) or 0, more
end
