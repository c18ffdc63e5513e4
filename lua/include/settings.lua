-- settings: the time, and the settings that most scripts need; returns NOT_FOUND for a queue that does not exist. Needs KEYS
-- settings. Defines now (Redis TIME in ms), hash_fields(), conf.
-- conf holds strings, false or nil where the hash has no value. It is unpacked from one field that queue_publish wrote:
-- reading each by name costs more than the rest of a poll.
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

local conf
do
    local packed = redis.call('HGET', key_settings, 'packed')
    local deleted, epoch, operator_state, activation, identity, opens, closes, max_waiting, rate, poll_tiers, tick_ms,
        mode, priority_share, lottery_draw, admit_when_idle, max_in_flight, lease_seconds, release_on, entry_captcha
    if packed then
        deleted, epoch, operator_state, activation, identity, opens, closes, max_waiting, rate, poll_tiers, tick_ms,
            mode, priority_share, lottery_draw, admit_when_idle, max_in_flight, lease_seconds, release_on,
            entry_captcha = cmsgpack.unpack(packed)
    end
    if entry_captcha == nil then
        -- Published by a release that packs fewer settings, or none.
        --@include conf_fields
        deleted, epoch, operator_state, activation, identity, opens, closes, max_waiting, rate, poll_tiers, tick_ms,
            mode, priority_share, lottery_draw, admit_when_idle, max_in_flight, lease_seconds, release_on,
            entry_captcha = unpack(redis.call('HMGET', key_settings, unpack(CONF_FIELDS)))
    end
    conf = {
        deleted = deleted, epoch = epoch, operatorState = operator_state, activation = activation,
        identity = identity, opensAt = opens, closesAt = closes, maxWaiting = max_waiting, ratePerSecond = rate,
        pollTiers = poll_tiers, tickMs = tick_ms, mode = mode, priorityShare = priority_share,
        lotteryDraw = lottery_draw, admitWhenIdle = admit_when_idle,
        maxInFlight = max_in_flight, claimLeaseSeconds = lease_seconds, releaseOn = release_on,
        entryCaptcha = entry_captcha,
    }
end
if not conf.epoch then
    return { 'NOT_FOUND', 'unknown' }
elseif conf.deleted == '1' then
    return { 'NOT_FOUND', 'deleted' }
end
