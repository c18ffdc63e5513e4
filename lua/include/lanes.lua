-- lanes: the sets that a line is made of. Needs KEYS waiting, priority, draw, drawn.
-- Lane main stands in `waiting`. Lanes priority and invite stand in `priority`, the invited first. Lane
-- lottery stands in `draw` in order of numbers, and is moved to `drawn`, in order of the places drawn, as
-- the draw is walked off; drawCursor is the first place that was not walked over yet. Scores are
-- number * GENERATIONS + generation, in `drawn` place * GENERATIONS + generation.
local INVITED = 1099511627776 -- 2^40: so far in front of the lane's others

local function in_lottery()
    return redis.call('ZCARD', key_draw) + redis.call('ZCARD', key_drawn)
end

local function in_line()
    return redis.call('ZCARD', key_waiting) + redis.call('ZCARD', key_priority) + in_lottery()
end
