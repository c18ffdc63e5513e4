#!lua flags=no-writes
-- queue_state: the public state of a queue.
--@keys settings state waiting departures priority draw drawn
--@args
-- Returns {OK, queueState, waiting, head number, last number given, admissions per 1000 seconds, epoch,
-- incarnation, now, message, opensAt, closesAt ('' none), {range, departures, …}, activation, mode}, or
-- NOT_FOUND. The head number is that of the first in the main line, or the next to be given where it is empty.
-- Safe because it only reads.
--@include queue
--@include lanes

local head = redis.call('ZRANGE', key_waiting, 0, 0, 'WITHSCORES')
local last = tonumber(run.seq or 0)
local head_seq = head[2] and math.floor(tonumber(head[2]) / 4096) or last + 1
local extra = hash_fields(key_settings, 'message')
local admitted = redis.call('HGET', key_state, 'admittedEma')
return { 'OK', queue_state(), in_line(), head_seq, last,
    math.floor(tonumber(admitted or 0) * 1000), tonumber(conf.epoch), tonumber(run.incarnation), now,
    extra.message or '', conf.opensAt or '', conf.closesAt or '', redis.call('HGETALL', key_departures),
    conf.activation or 'on', conf.mode or 'fifo' }
