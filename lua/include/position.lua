-- position: the answer that enter and position give.
-- Needs includes queue, places, locate. Reply: code, queueState, status, rank (-1: none), waiting,
-- entry token ('' none), its end in ms (0 none), ordering 0|1, estimated admissions per 1000 seconds,
-- seq, generation, epoch, incarnation, now in ms, activation, pollTiers
-- as JSON ('' for the default).
local function position_answer(code, member, kind, it)
    local status, rank, token, ends, ordering = 'NOT_ENTERED', -1, '', 0, 0
    if kind == 'WAITING' then
        status = 'WAITING'
        rank = redis.call('ZRANK', key_waiting, member)
    elseif kind == 'READY' then
        status, token = 'READY', it.token
        ends = it.deadline + (now - virtual_now)
    elseif kind == 'CLAIMED' then
        status, token, ordering = 'READY', it.token, 1
        ends = it.remaining + now
    end
    return { code, queue_state(), status, rank, redis.call('ZCARD', key_waiting), token, ends, ordering,
        math.floor(tonumber(run.rateEma or conf.ratePerSecond) * 1000), it and it.seq or 0,
        it and it.generation or 0, tonumber(conf.epoch), tonumber(run.incarnation), now,
        conf.activation, conf.pollTiers or '' }
end
