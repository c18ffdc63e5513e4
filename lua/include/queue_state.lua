-- queue_state: the public state of a queue. Needs includes settings and run, with soldOut and soldOutDue.

-- Nothing is left, or all that was left has ended.
local function is_sold_out()
    local due = tonumber(run.soldOutDue or 0)
    return run.soldOut == '1' or (due > 0 and now >= due)
end

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
