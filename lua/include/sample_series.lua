-- sample_series: one sample a second of the queue's figures, kept for 15 minutes. The latencies are those that the leader
-- recorded last. Needs KEYS state, series, orderLoad, include rate.

-- `again`: replaces the sample that an earlier call of this tick has taken, so that it covers the whole tick.
local function sample_series(second, again, waiting, ready, claimed)
    local totals = redis.call('HMGET', key_state, 'entered', 'admitted', 'consumed', 'expired', 'left', 'withdrawn')
    for i = 1, 6 do
        totals[i] = totals[i] or '0'
    end
    local known = redis.call('HMGET', key_state, 'orderP50', 'orderP95', 'orderP99', 'promisedWait', 'actualWait')
    for i = 1, 5 do
        known[i] = known[i] or ''
    end
    local failed = redis.call('HMGET', key_orderLoad, 'errors', 'timeouts')
    if again then
        redis.call('RPOP', key_series)
    end
    redis.call('RPUSH', key_series, string.format('%d,%d,%d,%d,%s,%.0f,%s,%s,%s,%.0f,%s,%s', second, waiting, ready,
        claimed, table.concat(totals, ','), rate_in_force() * 1000, known[1], known[2], known[3],
        (failed[1] or 0) + (failed[2] or 0), known[4], known[5]))
    redis.call('LTRIM', key_series, -900, -1)
end
