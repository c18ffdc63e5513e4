-- bucket: the token bucket of the rate. Needs include queue, and KEYS settings, state.
-- `bucket` is its level at bucketAt, the last tick. An admission between two ticks leaves bucketAt alone and lowers that
-- level, so that the refill since then is counted once.

-- The refill since the last tick, and the level now. A clock that steps back refills nothing; one that steps forward refills
-- no more than the burst.
local function look_into_bucket(rate, burst)
    if rate <= 0 then
        return 0, 0
    end
    local refill = math.max(now - tonumber(run.bucketAt or now), 0) * rate / 1000
    return refill, math.min(burst, tonumber(redis.call('HGET', key_state, 'bucket') or 0) + refill)
end

local function take_between_ticks(refill, filled)
    redis.call('HSET', key_state, 'bucket', string.format('%.6f', filled - 1 - refill))
    redis.call('HINCRBY', key_state, 'admitted', 1)
    redis.call('HINCRBY', key_state, 'admittedBetweenTicks', 1)
    redis.call('HSETNX', key_state, 'firstAdmittedAt', now)
    redis.call('HSET', key_state, 'lastAdmittedAt', now)
end
