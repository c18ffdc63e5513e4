-- lanes: the sets that a line is made of. Needs KEYS waiting, priority, draw, drawn.
-- Lane main is in `waiting`. Lanes priority and invite are in `priority`, invite first. Lane lottery is in `draw`, ordered by
-- number, and is moved to `drawn`, ordered by place drawn, as the draw is walked; drawCursor is the first place not walked
-- yet. Scores are number * GENERATIONS + generation, in `drawn` place * GENERATIONS + generation.
local INVITED = 1099511627776 -- 2^40: so far in front of the lane's others

local function in_lottery()
    return redis.call('ZCARD', key_draw) + redis.call('ZCARD', key_drawn)
end

local function in_line()
    return redis.call('ZCARD', key_waiting) + redis.call('ZCARD', key_priority) + in_lottery()
end
