-- promise: remembers what was promised to who has just entered. Needs KEYS promises and include settings.
-- Of each second the last one's promise is kept: how many were to be let in up to this one, and at what rate; what
-- those before were promised follows from it.
local function remember_promise(answer)
    local state, rank, rate_milli = answer[2], answer[4], answer[9]
    if (state == 'OPEN' or state == 'DRAINING') and conf.activation ~= 'hold' and rank >= 0 and rate_milli >= 1 then
        redis.call('HSET', key_promises, math.floor(now / 1000), string.format('%d,%d', rank + 1, rate_milli))
    end
    return answer
end
