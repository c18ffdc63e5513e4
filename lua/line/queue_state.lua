#!lua flags=no-writes
-- queue_state: the public state of a queue.
--@keys settings state waiting departures priority draw drawn
--@args
-- Returns {OK, queueState, waiting, head number, last number given, admissions per 1000 seconds, epoch,
-- incarnation, now, message, opensAt, closesAt ('' none), {range, departures, …}, activation, mode, uncounted to,
-- uncounted}, or NOT_FOUND. The head number is that of the first in the main line, or the next to be given where it is
-- empty. uncounted: how many numbers from the head to that one are not in the main line, besides the departures of the
-- ranges that lie wholly between: a recovery skips numbers, and has lost departures. 0, 0 where there are none.
-- Safe because it only reads.
--@include queue
--@include lanes

local head = redis.call('ZRANGE', key_waiting, 0, 0, 'WITHSCORES')
local last = tonumber(run.seq or 0)
local head_seq = head[2] and math.floor(tonumber(head[2]) / 4096) or last + 1
local extra = hash_fields(key_settings, 'message')
local admitted, counted_from = unpack(redis.call('HMGET', key_state, 'admittedEma', 'countedFrom'))
local departures = redis.call('HGETALL', key_departures)
counted_from = tonumber(counted_from or 0)
local uncounted = 0
if counted_from > head_seq then
    uncounted = counted_from - head_seq
        - redis.call('ZCOUNT', key_waiting, '-inf', '(' .. string.format('%.0f', counted_from * 4096))
    local ranges = {}
    for i = 1, #departures, 2 do
        local from, gone = departures[i] * 1024, tonumber(departures[i + 1])
        if from >= head_seq and from + 1023 < counted_from then
            uncounted = uncounted - gone
        elseif from < counted_from and counted_from <= from + 1023 then
            -- Those of the range's beginning are uncounted already.
            gone = math.min(last, from + 1023) + 1 - counted_from - redis.call('ZCOUNT', key_waiting,
                string.format('%.0f', counted_from * 4096), '(' .. string.format('%.0f', (from + 1024) * 4096))
        end
        if gone > 0 then
            ranges[#ranges + 1] = departures[i]
            ranges[#ranges + 1] = string.format('%.0f', gone)
        end
    end
    departures = ranges
end
return { 'OK', queue_state(), in_line(), head_seq, last,
    math.floor(tonumber(admitted or 0) * 1000), tonumber(conf.epoch), tonumber(run.incarnation), now,
    extra.message or '', conf.opensAt or '', conf.closesAt or '', departures,
    conf.activation or 'on', conf.mode or 'fifo', uncounted > 0 and counted_from - 1 or 0, math.max(uncounted, 0) }
