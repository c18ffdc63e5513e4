#!lua flags=no-writes
-- autopilot_read: the rate in force and the moves that led to it, for an operator.
--@keys settings state autopilot moves
--@args
-- Returns {OK, ratePerSecond, rate in force ×1000, floor, ceiling ('' while the autopilot is off), its setting as JSON
-- ('' none), figures of the last decision as JSON ('' none), move, move, …}, oldest first, or NOT_FOUND.
-- Safe because it only reads.
--@include queue
--@include rate

local more = hash_fields(key_settings, 'rateFloor', 'rateCeiling', 'autopilot')
local answer = { 'OK', conf.ratePerSecond, math.floor(rate_in_force() * 1000 + 0.5), more.rateFloor or '',
    more.rateCeiling or '', more.autopilot or '', redis.call('HGET', key_autopilot, 'figures') or '' }
for _, move in ipairs(redis.call('LRANGE', key_moves, 0, -1)) do
    answer[#answer + 1] = move
end
return answer
