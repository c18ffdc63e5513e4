-- promise: records the wait promised to a member who enters. Needs KEYS promises and include settings.
-- For each second the last promise is kept: the rank and the rate; those of the members before follow from it.
local function remember_promise(answer)
    local state, rank, rate_milli = answer[2], answer[4], answer[9]
    if (state == 'OPEN' or state == 'DRAINING') and conf.activation ~= 'hold' and rank >= 0 and rate_milli >= 1 then
        redis.call('HSET', key_promises, math.floor(now / 1000), string.format('%d,%d', rank + 1, rate_milli))
    end
    return answer
end
