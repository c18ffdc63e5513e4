-- position: the reply of enter and position.
-- Needs KEYS as include lanes, drawGone, drawLeft, and includes queue, places, set_aside, draw, lanes, line_membership,
-- rate. Reply: code, queueState, status, rank (-1: none, or not known before the draw is held), waiting, entry token (''
-- none), its end in ms (0 none), ordering 0|1, estimated admissions per 1000 seconds, seq, generation, epoch, incarnation,
-- now in ms, activation, pollTiers as JSON ('' for the default), lane ('' none), exactOnly 0|1: the rank cannot be computed
-- from the board.

-- The rank counts the members before this one in its lane, and for lane main those of the lottery, who go first.
local function rank_of(member, it)
    if it.set ~= key_draw then
        local rank = redis.call('ZRANK', it.set, member)
        return it.set == key_waiting and rank + in_lottery() or rank
    elseif not it.place or redis.call('LLEN', key_drawLeft) > 0 then
        return -1
    end
    return redis.call('ZCARD', key_drawn) + it.place - draw_cursor
        - redis.call('ZCOUNT', key_drawGone, draw_cursor, it.place - 1)
end

-- The share of the rate that the member's lane can expect.
local function rate_milli_of(it)
    local rate = tonumber(run.rateEma or rate_in_force()) * 1000
    local first = redis.call('ZCARD', key_priority)
    if not it.set or first == 0 then
        return math.floor(rate)
    end
    local share = tonumber(conf.priorityShare or 0.5)
    if it.set ~= key_priority then
        share = 1 - share
    elseif first == in_line() then
        share = 1
    end
    return math.floor(rate * share)
end

local function position_answer(code, member, kind, it)
    local status, rank, token, ends, ordering, lane, exact = 'NOT_ENTERED', -1, '', 0, 0, '', 0
    if kind == 'WAITING' then
        status, lane, rank = 'WAITING', it.lane, rank_of(member, it)
        exact = (lane ~= 'main' or in_lottery() > 0) and 1 or 0
    elseif kind == 'READY' then
        status, token, lane = 'READY', it.token, lane_of(it.seq)
        ends = it.deadline + (now - virtual_now)
    elseif kind == 'CLAIMED' then
        status, token, ordering, lane = 'READY', it.token, 1, lane_of(it.seq)
        ends = it.remaining + now
    end
    return { code, queue_state(), status, rank, in_line(), token, ends, ordering,
        rate_milli_of(it or {}), it and it.seq or 0,
        it and it.generation or 0, tonumber(conf.epoch), tonumber(run.incarnation), now,
        conf.activation, conf.pollTiers or '', lane, exact }
end
