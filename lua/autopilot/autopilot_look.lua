#!lua flags=no-writes
-- autopilot_look: what the leader needs to judge a queue's load and rate.
--@keys settings state waiting ready pickup claimed unpaid priority draw drawn orderLoad autopilot
--@args
-- Returns {OK, version, now, ratePerSecond, rateInForce ('' where the autopilot has not set it), floor, ceiling ('' without
-- the autopilot), autopilot as JSON ('' off), promotion is open 0|1, waiting, free places, claimed, not yet picked up,
-- admitted, withdrawn, turn, memory ('' none), let in and not ordering, field, count, … of the load}, or NOT_FOUND.
-- Safe because it only reads; autopilot_note fences the decision by version and turn.
--@include queue
--@include lanes

local more = hash_fields(key_settings, 'version', 'rateFloor', 'rateCeiling', 'autopilot', 'maxActive')
local counts = hash_fields(key_state, 'rateInForce', 'admitted', 'withdrawn', 'recoveringUntil')
local kept = hash_fields(key_autopilot, 'turn', 'memory')
local state = queue_state()
local open = (state == 'OPEN' or state == 'DRAINING') and conf.activation ~= 'hold' and frozen_since == 0
    and now >= tonumber(counts.recoveringUntil or 0)
local claimed = redis.call('ZCARD', key_claimed)
local ready = redis.call('ZCARD', key_ready)
local taken = ready + claimed + redis.call('HLEN', key_unpaid)
local answer = { 'OK', tonumber(more.version or 0), now, conf.ratePerSecond, counts.rateInForce or '',
    more.rateFloor or '', more.rateCeiling or '', more.autopilot or '', open and 1 or 0, in_line(),
    tonumber(more.maxActive) - taken, claimed, redis.call('ZCARD', key_pickup), tonumber(counts.admitted or 0),
    tonumber(counts.withdrawn or 0), tonumber(kept.turn or 0), kept.memory or '', ready }
for _, word in ipairs(redis.call('HGETALL', key_orderLoad)) do
    answer[#answer + 1] = word
end
return answer
