-- queue: the queue's settings, its clock and its state; ends the script for a queue that is not there.
-- Needs KEYS settings, state. Defines now, virtual_now, conf, run, queue_state(), is_alive().
-- Time is Redis TIME. The virtual clock stands still while nothing can be bought, so that the deadlines
-- of READY members, which are kept in virtual time, all move by an outage without being touched.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function hash_fields(key, ...)
    local values = redis.call('HMGET', key, ...)
    local fields = {}
    for i, name in ipairs({ ... }) do
        fields[name] = values[i] or nil
    end
    return fields
end

local conf = hash_fields(key_settings, 'deleted', 'epoch', 'operatorState', 'activation', 'identity',
    'opensAt', 'closesAt', 'maxWaiting', 'ratePerSecond', 'pollTiers', 'tickMs', 'mode', 'priorityShare', 'lotteryDraw')
if not conf.epoch then
    return { 'NOT_FOUND', 'unknown' }
elseif conf.deleted == '1' then
    return { 'NOT_FOUND', 'deleted' }
end

local run = hash_fields(key_state, 'incarnation', 'seq', 'frozenMs', 'frozenSince', 'rateEma', 'soldOut', 'soldOutDue',
    'bucketAt', 'awayMs', 'drawFirst', 'drawLast', 'drawClosed', 'drawCursor')
local frozen_since = tonumber(run.frozenSince or 0)
local virtual_now = now - tonumber(run.frozenMs or 0)
if frozen_since > 0 then
    virtual_now = virtual_now - (now - frozen_since)
end

-- Nothing is left, or all that was is over by now.
local function is_sold_out()
    local due = tonumber(run.soldOutDue or 0)
    return run.soldOut == '1' or (due > 0 and now >= due)
end

-- The state that everyone sees, by settings and clock.
local function queue_state()
    local opens, closes = tonumber(conf.opensAt), tonumber(conf.closesAt)
    if closes and now >= closes then
        return 'CLOSED'
    elseif conf.operatorState == 'SOLD_OUT' or is_sold_out() then
        return 'SOLD_OUT'
    elseif opens and now < opens then
        return 'PRE_OPEN'
    end
    return conf.operatorState
end

-- Whether a READY place with that deadline lives. Without recent ticks nobody knows yet whether the
-- deadline moves by an outage, so it does.
local function is_alive(deadline)
    local ticks_are_overdue = now - tonumber(run.bucketAt or now) > math.max(5000, 3 * tonumber(conf.tickMs or 0))
    return deadline > virtual_now or ticks_are_overdue
end
