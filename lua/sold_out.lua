#!lua
-- sold_out: carries PostgreSQL's word on what is left to the line.
--@keys settings state coupons
--@args change soldOut due withEvents
-- then, where `withEvents` is 1, of each coupon event of the queue: its id and its record (see include/coupons).
-- change: number of the finding, taken under one row lock a queue; soldOut: 1 or 0; due: when all that is left now
-- will be over in ms, 0 for never.
-- Returns {SET}, {OLDER}, or NOT_FOUND.
-- Safe because an older finding that arrives late is ignored: "sold out" and "came back" cannot cross. A queue that
-- lost its memory is told before it comes back (spent_load has prepared it), so that it does not open for a moment.
local FIRST_EVENT = 5
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local epoch, deleted = unpack(redis.call('HMGET', key_settings, 'epoch', 'deleted'))
local change, sold_out, due, prepared =
    unpack(redis.call('HMGET', key_state, 'soldOutChange', 'soldOut', 'soldOutDue', 'preparedFor'))
if deleted == '1' then
    return { 'NOT_FOUND', 'deleted' }
elseif not epoch and not prepared then
    return { 'NOT_FOUND', 'unknown' }
end

-- By itself: a finding may be told without the events.
if arg_withEvents == '1' and tonumber(arg_change) > tonumber(redis.call('HGET', key_coupons, ':change') or 0) then
    redis.call('DEL', key_coupons)
    redis.call('HSET', key_coupons, ':change', arg_change)
    for i = FIRST_EVENT, #ARGV, 2 do
        redis.call('HSET', key_coupons, ARGV[i], ARGV[i + 1])
    end
end
if tonumber(arg_change) <= tonumber(change or 0) then
    return { 'OLDER' }
end
redis.call('HSET', key_state, 'soldOutChange', arg_change, 'soldOut', arg_soldOut, 'soldOutDue', arg_due)
if arg_soldOut == '1' and sold_out ~= '1' then
    due = tonumber(due or 0)
    redis.call('HSET', key_state, 'soldOutAt', due > 0 and math.min(due, now) or now)
end
return { 'SET' }
