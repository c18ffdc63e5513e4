-- promise_kept: compares the wait promised at entry with the actual one. Needs KEYS state, arrivals, promises and include
-- queue.
-- `promises` holds the promises by second, and two histograms of the members let in, late:0 … late:11 and early:0 …
-- early:11, by these bounds, with the totals lateMs and earlyMs.
local WAIT_BOUNDS_MS = { 1000, 2000, 5000, 10000, 20000, 30000, 60000, 120000, 300000, 600000, 1800000 }

-- `count` members were let in; `last`, the highest number of them, is taken for all.
local function compare_with_promise(last, count)
    local arrived = redis.call('ZRANGEBYSCORE', key_arrivals, last, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    local kept = arrived[1] and redis.call('HGET', key_promises, arrived[1])
    if not kept then
        return
    end
    local ahead, rate_milli = string.match(kept, '^(%d+),(%d+)$')
    local promised = math.max(math.ceil((ahead - (arrived[2] - last)) * 1000 / rate_milli), 0)
    local actual_ms = math.max(now - arrived[1] * 1000, 0)
    local error_ms = actual_ms - promised * 1000
    local way, size = error_ms < 0 and 'early' or 'late', math.abs(error_ms)
    local bucket = 0
    while bucket < #WAIT_BOUNDS_MS and size > WAIT_BOUNDS_MS[bucket + 1] do
        bucket = bucket + 1
    end
    redis.call('HINCRBY', key_promises, way .. ':' .. bucket, count)
    redis.call('HINCRBY', key_promises, way .. 'Ms', string.format('%.0f', size * count))
    redis.call('HSET', key_state, 'promisedWait', promised, 'actualWait', math.floor(actual_ms / 1000 + 0.5))
end
