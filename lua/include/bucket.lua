-- bucket: what the rate has saved up. Needs include queue, and KEYS settings, state.
-- bucketAt is the moment of the last tick. Whoever takes from the bucket between two ticks leaves that
-- moment alone and writes what was in the bucket then, so that what has come in since is counted once.

-- What came in since the last tick, and what is in the bucket now. A clock that steps back refills
-- nothing; one that steps forward refills no more than the burst.
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
