-- lane_shares: divides a call's admissions among the lanes. Needs KEYS state, include settings, and run with priorityCarry.

-- The share of the priority lane, with the remainder of earlier calls. Nothing is carried over while one of the lanes is
-- empty, and what one lane cannot use goes to the other.
local function lane_shares(may_admit, from_priority, from_drawn, from_waiting)
    local others = from_drawn + from_waiting
    local carried = (from_priority > 0 and others > 0) and run.priorityCarry or 0
    local quota = may_admit * tonumber(conf.priorityShare or 0.5) + carried
    local whole = math.floor(quota + 1e-9)
    local first = math.min(whole, may_admit, from_priority)
    others = math.min(may_admit - first, others)
    first = math.min(may_admit - others, from_priority)
    carried = (first == whole and from_priority > first) and math.max(quota - whole, 0) or 0
    if carried ~= (run.priorityCarry or 0) then
        redis.call('HSET', key_state, 'priorityCarry', string.format('%.6f', carried))
    end
    from_drawn = math.min(others, from_drawn)
    return first, from_drawn, others - from_drawn
end
