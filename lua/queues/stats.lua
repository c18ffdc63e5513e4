#!lua flags=no-writes
-- stats: the figures of a queue for operators.
--@keys settings state waiting away ready claimed unpaid series leader priority draw drawn orderLoad promises
--@args samples
-- Returns {OK, queueState, waiting, away, ready, claimed, unpaid, entered, admitted, consumed, expired,
-- left, withdrawn, admissions per 1000 seconds, leader ('' none), now, frozen 0|1, last number given,
-- incarnation, recoveringUntil ms (0 none), waiting in the priority lane, in the lottery; visits ended by the site, by an
-- operator; while the gate only watched: visits, those that would have waited, the longest line that would have formed; rate
-- in force ×1000; latency of orders P50, P95, P99, of the site behind the gate P95 (ms, -1 unknown); orders answered,
-- failed, timed out, refused by maxInFlight; of the last member let in: promised and actual wait (s, -1 unknown); of all
-- members let in: twelve buckets of how late, and the total in ms, then the same for early; sample, sample, …}, or
-- NOT_FOUND. A sample is second,waiting,ready,claimed,entered,admitted,consumed,expired,left,withdrawn,rate in force
-- ×1000,P50,P95, P99,errors and timeouts,promised wait,actual wait of the last member let in (seconds); unknown values are
-- empty. Safe because it only reads.
--@include queue
--@include lanes
--@include rate

local totals = redis.call('HMGET', key_state, 'entered', 'admitted', 'consumed', 'expired', 'left', 'withdrawn')
for i = 1, 6 do
    totals[i] = tonumber(totals[i] or 0)
end
local extra = hash_fields(key_state, 'admittedEma', 'recoveringUntil')
local answer = { 'OK', queue_state(), in_line(), redis.call('ZCARD', key_away),
    redis.call('ZCARD', key_ready), redis.call('ZCARD', key_claimed), redis.call('HLEN', key_unpaid),
    totals[1], totals[2], totals[3], totals[4], totals[5], totals[6],
    math.floor(tonumber(extra.admittedEma or 0) * 1000), redis.call('GET', key_leader) or '', now,
    frozen_since > 0 and 1 or 0, tonumber(run.seq or 0), tonumber(run.incarnation),
    tonumber(extra.recoveringUntil or 0), redis.call('ZCARD', key_priority), in_lottery() }
for _, count in ipairs({ 'returned', 'evicted', 'watchVisits', 'watchWouldWait', 'watchLongest' }) do
    answer[#answer + 1] = tonumber(redis.call('HGET', key_state, count) or 0)
end
answer[#answer + 1] = math.floor(rate_in_force() * 1000 + 0.5)
for _, latency in ipairs({ 'orderP50', 'orderP95', 'orderP99', 'originP95' }) do
    answer[#answer + 1] = math.floor(tonumber(redis.call('HGET', key_state, latency) or nil) or -1)
end
local answered, load = 0, redis.call('HGETALL', key_orderLoad)
for i = 1, #load, 2 do
    answered = answered + (string.match(load[i], '^b%d+$') and tonumber(load[i + 1]) or 0)
end
answer[#answer + 1] = answered
for _, count in ipairs({ 'errors', 'timeouts', 'busy' }) do
    answer[#answer + 1] = tonumber(redis.call('HGET', key_orderLoad, count) or 0)
end
for _, wait in ipairs({ 'promisedWait', 'actualWait' }) do
    answer[#answer + 1] = tonumber(redis.call('HGET', key_state, wait) or -1)
end
for _, way in ipairs({ 'late', 'early' }) do
    local names = {}
    for bucket = 0, 11 do
        names[#names + 1] = way .. ':' .. bucket
    end
    names[#names + 1] = way .. 'Ms'
    for _, number in ipairs(redis.call('HMGET', key_promises, unpack(names))) do
        answer[#answer + 1] = tonumber(number or 0)
    end
end
local samples = tonumber(arg_samples)
for _, sample in ipairs(samples > 0 and redis.call('LRANGE', key_series, -samples, -1) or {}) do
    answer[#answer + 1] = sample
end
return answer
