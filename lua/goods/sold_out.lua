#!lua
-- sold_out: applies PostgreSQL's finding of what is left of the queue's goods.
--@keys settings state coupons
--@args change soldOut due withEvents
-- then, where `withEvents` is 1, per coupon event of the queue: its id and its record (see include/coupons).
-- change: number of the finding, taken under the queue's row lock; soldOut: 1 or 0; due: when all that is left now will have
-- ended, in ms, 0 for never.
-- Returns {SET}, {OLDER, change that is known}, or NOT_FOUND.
-- Safe because a finding that is not newer is ignored: "sold out" and "available again" cannot cross. A queue in recovery
-- (prepared by spent_load) accepts it before it comes back, so a sold-out queue does not open for a moment.
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

-- Events have a change number of their own: a finding may come without them.
if arg_withEvents == '1' and tonumber(arg_change) > tonumber(redis.call('HGET', key_coupons, ':change') or 0) then
    redis.call('DEL', key_coupons)
    redis.call('HSET', key_coupons, ':change', arg_change)
    for i = FIRST_EVENT, #ARGV, 2 do
        redis.call('HSET', key_coupons, ARGV[i], ARGV[i + 1])
    end
end
if tonumber(arg_change) <= tonumber(change or 0) then
    return { 'OLDER', tonumber(change) }
end
redis.call('HSET', key_state, 'soldOutChange', arg_change, 'soldOut', arg_soldOut, 'soldOutDue', arg_due)
if arg_soldOut == '1' then
    -- Whether coupons are there whose event has ended: known from the first finding that comes with the events.
    local by_end = false
    for i = FIRST_EVENT + 1, #ARGV, 2 do
        local gone, ends = string.match(ARGV[i], '^%d+/([01])/%d+/(%d+)$')
        by_end = by_end or (gone == '0' and tonumber(ends) > 0 and tonumber(ends) <= now)
    end
    if by_end or sold_out ~= '1' then
        redis.call('HSET', key_state, 'soldOutByEnd', by_end and 1 or 0)
    end
end
if arg_soldOut == '1' and sold_out ~= '1' then
    due = tonumber(due or 0)
    redis.call('HSET', key_state, 'soldOutAt', due > 0 and math.min(due, now) or now)
end
return { 'SET' }
