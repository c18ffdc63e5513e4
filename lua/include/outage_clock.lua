-- outage_clock: stops the queue's virtual clock while nothing can be bought, and lets it go on. Needs KEYS state, ARGS poolSeen,
-- poolSilentMs, poolSilence, include queue, and run with frozenEnd, poolSilentMs. Sets virtual_now; defines `outage`, and
-- collect_before: the virtual time before which a deadline has passed for certain.
local seen, silence, silent_ms = tonumber(arg_poolSeen), tonumber(arg_poolSilence), tonumber(arg_poolSilentMs)
local age = seen < 0 and -1 or math.max(now - seen, 0)

-- The outage began at the last heartbeat, not when it was noticed. Activation hold freezes the clock too, since nothing can
-- be bought meanwhile: members with a place keep the time that they had left.
local outage = silence > 0 and (age < 0 or age > silence)
local stands_still = outage or conf.activation == 'hold'
if stands_still and frozen_since == 0 then
    frozen_since = math.max(outage and now - math.max(age, 0) or now, run.frozenEnd or 0)
    redis.call('HSET', key_state, 'frozenSince', frozen_since)
    virtual_now = virtual_now - (now - frozen_since)
elseif not stands_still and frozen_since > 0 then
    redis.call('HINCRBY', key_state, 'frozenMs', now - frozen_since)
    redis.call('HSET', key_state, 'frozenSince', 0, 'frozenEnd', now)
elseif not stands_still and silent_ms > (run.poolSilentMs or silent_ms) then
    -- An outage that began and ended between two ticks.
    local missed = silent_ms - run.poolSilentMs
    redis.call('HINCRBY', key_state, 'frozenMs', missed)
    redis.call('HSET', key_state, 'frozenEnd', now)
    virtual_now = virtual_now - missed
end
if not outage and silent_ms ~= run.poolSilentMs then
    redis.call('HSET', key_state, 'poolSilentMs', silent_ms)
end

-- What expired after the last heartbeat may have expired in an outage that is not noticed yet.
local collect_before = virtual_now
if silence > 0 and not outage then
    collect_before = virtual_now - age
end
