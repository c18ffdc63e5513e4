#!lua flags=no-writes
-- stats: what an operator watches.
--@keys settings state waiting away ready claimed unpaid series leader priority draw drawn
--@args samples
-- Returns {OK, queueState, waiting, away, ready, claimed, unpaid, entered, admitted, consumed, expired,
-- left, withdrawn, admissions per 1000 seconds, leader ('' none), now, frozen 0|1, last number given,
-- incarnation, recoveringUntil ms (0 none), of those waiting: in the priority lane, in the lottery; visits ended
-- by the site, by an operator; while the gate only watched: visits, those that would have waited, the longest
-- line that there would have been; sample, sample, …}, or NOT_FOUND. A sample is
-- second,waiting,ready,claimed,entered,admitted,consumed,expired,left.
-- Safe because it only reads.
--@include queue
--@include lanes

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
local samples = tonumber(arg_samples)
for _, sample in ipairs(samples > 0 and redis.call('LRANGE', key_series, -samples, -1) or {}) do
    answer[#answer + 1] = sample
end
return answer
