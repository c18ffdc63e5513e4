-- draw: the lottery's draw in both directions: the place of a number, and the number of a place.
-- Needs KEYS state and include queue. lib/admission/lottery/lottery.c computes the same.
-- In the settings the draw is one text, "seed listHash ranges" (ranges of numbers like 1-500,900-950); '' before it is held.
-- The numbers of the ranges are indexed from 0; a Feistel network over a square of at least as many points permutes them, and
-- is applied again while the result is no index (cycle walking). Its eight rounds take their keys from the seed. Every
-- product stays below 2^53, so all of it is exact in Lua's numbers.
local DRAW_ROUNDS, DRAW_PRIME = 8, 2147483647
local draw_that_was_read = nil

-- The draw's fields of `state` are read on first access: few queues have a draw.
setmetatable(run, {
    __index = function(_, name)
        if string.sub(name, 1, 4) ~= 'draw' then
            return nil
        end
        setmetatable(run, nil)
        local first, last, closed, cursor = unpack(redis.call('HMGET', key_state, 'drawFirst', 'drawLast', 'drawClosed',
            'drawCursor'))
        run.drawFirst, run.drawLast = first or nil, last or nil
        run.drawClosed, run.drawCursor = run.drawClosed or closed or nil, cursor or nil
        return run[name]
    end,
})
-- The first place that was not walked yet.
local draw_cursor = (conf.lotteryDraw or '') ~= '' and tonumber(run.drawCursor or 0) or 0

local function read_draw(text)
    local seed, ranges = string.match(text, '^(%x+) %x+ ([%d,%-]+)$')
    local it = { ranges = {}, count = 0, keys = {} }
    for from, to in string.gmatch(ranges, '(%d+)%-(%d+)') do
        from, to = tonumber(from), tonumber(to)
        it.ranges[#it.ranges + 1] = { from = from, to = to, before = it.count }
        it.count = it.count + to - from + 1
    end
    -- An even side: an odd one would yield only even permutations of the square.
    it.side = 2 * math.floor(math.sqrt(it.count) / 2)
    while it.side * it.side < it.count do
        it.side = it.side + 2
    end
    for round = 1, DRAW_ROUNDS do
        local hash = redis.sha1hex(seed .. ':' .. round)
        for i = 1, 4 do
            it.keys[#it.keys + 1] = tonumber(string.sub(hash, 8 * i - 7, 8 * i), 16) % (i < 3 and DRAW_PRIME or 67108864)
        end
    end
    return it
end

-- The draw, nil before it is held.
local function the_draw()
    if not draw_that_was_read and (conf.lotteryDraw or '') ~= '' then
        draw_that_was_read = read_draw(conf.lotteryDraw)
    end
    return draw_that_was_read
end

-- The place that `number` has drawn, from 0; nil for a number that was not in the draw.
local function place_of_number(number)
    local it = the_draw()
    local at = nil
    for _, range in ipairs(it and it.ranges or {}) do
        if number >= range.from and number <= range.to then
            at = range.before + number - range.from
        end
    end
    while at do
        local keys, side = it.keys, it.side
        local right = at % side
        local left = (at - right) / side
        for i = 1, 4 * DRAW_ROUNDS, 4 do
            local x = (right * keys[i] + keys[i + 1]) % DRAW_PRIME
            local low = x % 65536
            left, right = right,
                (left + (low + keys[i + 2]) * ((x - low) / 65536 + keys[i + 3]) % DRAW_PRIME % side) % side
        end
        at = left * side + right
        if at < it.count then
            return at
        end
    end
end

-- The number that has drawn `place`.
local function number_of_place(place)
    local it = the_draw()
    local at = place
    local keys, side, prime = it.keys, it.side, DRAW_PRIME
    repeat
        local right = at % side
        local left = (at - right) / side
        for i = 4 * DRAW_ROUNDS - 3, 1, -4 do
            local x = (left * keys[i] + keys[i + 1]) % prime
            local low = x % 65536
            left, right =
                (right - (low + keys[i + 2]) * ((x - low) / 65536 + keys[i + 3]) % prime % side) % side, left
        end
        at = left * side + right
    until at < it.count
    for _, range in ipairs(it.ranges) do
        if at < range.before + range.to - range.from + 1 then
            return range.from + at - range.before
        end
    end
end
