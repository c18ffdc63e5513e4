-- prune_line: forgets what was kept about numbers that lie entirely before the head of the line, a bounded number of ranges and
-- of seconds a call. Needs KEYS state, waiting, departures, marks, arrivals, promises, and run with prunedTo, mainFront.
local PRUNED_AT_ONCE = 100

local function prune_line()
    local head = redis.call('ZRANGE', key_waiting, 0, 0, 'WITHSCORES')
    if head[2] then
        local range = math.floor(tonumber(head[2]) / GENERATIONS / 1024)
        local pruned = run.prunedTo or 0
        if range > pruned then
            local ranges = {}
            for old = pruned, math.min(range, pruned + PRUNED_AT_ONCE) - 1 do
                ranges[#ranges + 1] = old
            end
            redis.call('HDEL', key_departures, unpack(ranges))
            redis.call('HDEL', key_marks, unpack(ranges))
            redis.call('HSET', key_state, 'prunedTo', math.min(range, pruned + PRUNED_AT_ONCE),
                'mainFront', math.max(run.mainFront or 0, math.floor(tonumber(head[2]) / GENERATIONS) - 1))
        end
        local seconds = redis.call('ZRANGEBYSCORE', key_arrivals, '-inf',
            math.floor(tonumber(head[2]) / GENERATIONS) - 1, 'LIMIT', 0, PRUNED_AT_ONCE)
        if #seconds > 0 then
            redis.call('ZREM', key_arrivals, unpack(seconds))
            redis.call('HDEL', key_promises, unpack(seconds))
        end
    end
end
