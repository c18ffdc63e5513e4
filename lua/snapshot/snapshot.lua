#!lua flags=no-writes
-- snapshot: what a host needs to answer polls of members far from a queue's front.
--@keys settings state waiting priority draw drawn marks
--@args known
-- known: number of the last change of marks that the host has applied, -1 for none.
-- Returns {OK, queueState, waiting in all, waiting in the main line, last number given, front, members of the main line up
-- to the front, members before the main line (lottery), admissions expected per 1000 seconds, epoch, incarnation, now,
-- activation, pollTiers as JSON ('' for the default), for visitors 0|1, ranks below this must ask Redis, exactOnly (see
-- include/position) 0|1, number of the last change, changes are missing 0|1, change, …}, or NOT_FOUND. A change is
-- number * 4 + mark, see include/marks.
-- Safe because it only reads, all of it at one moment.
--@include queue
--@include lanes
--@include rate

local KEPT = 2048
local last = tonumber(run.seq or 0)
local main_front, counted_from, draw_last = unpack(redis.call('HMGET', key_state, 'mainFront', 'countedFrom', 'drawLast'))
-- Without countedFrom it is not known from which number on the marks are complete.
local front = math.max(tonumber(main_front or 0), counted_from and tonumber(counted_from) - 1 or last,
    tonumber(draw_last or 0))
local rate = tonumber(run.rateEma or rate_in_force()) * 1000
local priority = redis.call('ZCARD', key_priority)
if priority > 0 then
    rate = rate * (1 - tonumber(conf.priorityShare or 0.5))
end
local lottery = in_lottery()
-- More than can be let in while a snapshot is valid.
local near = math.ceil(burst_in_force() + 2 * rate_in_force()) + 100

local count, known = tonumber(redis.call('HGET', key_marks, 'count') or 0), tonumber(arg_known)
local missing = known < 0 or known > count or count - known > KEPT
local answer = { 'OK', queue_state(), in_line(), redis.call('ZCARD', key_waiting), last, front,
    redis.call('ZCOUNT', key_waiting, '-inf', string.format('%.0f', front * 4096 + 4095)), lottery, math.floor(rate),
    tonumber(conf.epoch), tonumber(run.incarnation), now, conf.activation, conf.pollTiers or '',
    conf.identity == 'visitor' and 1 or 0, near, lottery > 0 and 1 or 0, count, missing and 1 or 0 }
if not missing and count > known then
    local fields = {}
    for i = known + 1, count do
        fields[#fields + 1] = '#' .. i % KEPT
    end
    for _, change in ipairs(redis.call('HMGET', key_marks, unpack(fields))) do
        answer[#answer + 1] = change or ''
    end
end
return answer
