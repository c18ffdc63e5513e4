#!lua flags=no-writes
-- gate_view: what the gate needs of a queue to judge requests without Redis for renew_ms.
--@keys settings state waiting ended priority draw drawn
--@args
-- Returns {OK, version, activation, admitWhenIdle 0|1, identity, bypass as JSON ('' none), epoch,
-- incarnation, ms for which a pass is accepted unchecked, queueState, waiting, admissions expected per 1000 seconds, now,
-- message, opensAt, closesAt ('' none each), pickupSeconds, entryTtlSeconds, mode, admission ended early, …}, or NOT_FOUND.
-- Safe because it only reads. An admission that was ended early is listed for longer than its pass is accepted unchecked.
--@include queue
--@include lanes
--@include visit
--@include rate

local more = hash_fields(key_settings, 'version', 'admitWhenIdle', 'bypass', 'message', 'pickupSeconds',
    'entryTtlSeconds', 'mode')
local answer = { 'OK', tonumber(more.version), conf.activation, tonumber(more.admitWhenIdle or 0),
    conf.identity, more.bypass or '', tonumber(conf.epoch), tonumber(run.incarnation), renew_ms,
    queue_state(), in_line(),
    math.floor(tonumber(run.rateEma or rate_in_force()) * 1000), now, more.message or '',
    conf.opensAt or '', conf.closesAt or '', tonumber(more.pickupSeconds), tonumber(more.entryTtlSeconds),
    more.mode or 'fifo' }
for _, admission in ipairs(redis.call('ZRANGEBYSCORE', key_ended, now - 2 * renew_ms - 5000, '+inf')) do
    answer[#answer + 1] = admission
end
return answer
