-- admit_while_idle: letting a member in without waiting: while nobody waits (admitWhenIdle), or by an invite.
-- Needs KEYS settings, state, waiting, priority, draw, drawn, places, ready, claimed, unpaid and includes queue,
-- places, lanes, rate, bucket.

-- Whether one more member may be let in now, as by a tick; `invited` members also past those who wait. Returns refill and
-- level of the bucket, for take_between_ticks(), or nil.
local function may_enter_at_once(invited)
    local more = hash_fields(key_settings, 'admitWhenIdle', 'maxActive')
    local ticks_are_overdue = now - tonumber(run.bucketAt or 0) > math.max(5000, 3 * tonumber(conf.tickMs))
    if (more.admitWhenIdle ~= '1' and not invited) or queue_state() ~= 'OPEN' or conf.activation == 'hold'
        or frozen_since > 0 or ticks_are_overdue
        or now < tonumber(redis.call('HGET', key_state, 'recoveringUntil') or 0)
        or (not invited and in_line() > 0) then
        return nil
    end
    local taken = redis.call('ZCARD', key_ready) + redis.call('ZCARD', key_claimed)
        + redis.call('HLEN', key_unpaid)
    local refill, filled = look_into_bucket(rate_in_force(), burst_in_force())
    if taken >= tonumber(more.maxActive) or filled < 1 then
        return nil
    end
    return refill, filled
end

local function give_place(member, it, token, admission, deadline)
    it.token, it.admission, it.claim, it.key_hash, it.remaining = token, admission, '', '', 0
    it.deadline = deadline
    redis.call('HSET', key_places, member, place_record(it))
    redis.call('ZADD', key_ready, deadline, member)
end
