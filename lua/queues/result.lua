#!lua flags=no-writes
-- result: how the queue went; public.
--@keys settings state
--@args
-- Returns {OK, queueState, entered, admitted, consumed, left, expired, last number served (0 none), first and
-- last admission in ms (0 none each), how long the last one waited in ms, the longest wait in ms, sold out at
-- (0 not), opensAt, closesAt ('' none), epoch, now}, or NOT_FOUND.
-- Counts begin at the last reset.
-- Safe because it only reads.
--@include queue

local names = { 'entered', 'admitted', 'consumed', 'left', 'expired', 'lastServedSeq', 'firstAdmittedAt',
    'lastAdmittedAt', 'lastWaitMs', 'longestWaitMs', 'soldOutAt' }
local found = redis.call('HMGET', key_state, unpack(names))
local before = redis.call('HMGET', key_state, 'enteredBefore', 'admittedBefore', 'consumedBefore', 'leftBefore',
    'expiredBefore')
local answer = { 'OK', queue_state() }
for i = 1, #names do
    answer[#answer + 1] = tonumber(found[i] or 0) - tonumber(before[i] or 0)
end
for _, value in ipairs({ conf.opensAt or '', conf.closesAt or '', tonumber(conf.epoch), now }) do
    answer[#answer + 1] = value
end
return answer
