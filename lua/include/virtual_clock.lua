-- virtual_clock: a clock that stops while nothing can be bought. Deadlines of READY members are in its time, so an outage
-- postpones all of them without a write. Needs includes settings and run, with frozenMs, frozenSince, bucketAt. Defines
-- frozen_since, virtual_now, is_alive().
local frozen_since = tonumber(run.frozenSince or 0)
local virtual_now = now - tonumber(run.frozenMs or 0)
if frozen_since > 0 then
    virtual_now = virtual_now - (now - frozen_since)
end

-- Whether a READY place with this deadline is alive. Without recent ticks it is not known whether an outage postpones the
-- deadline, so it counts as alive.
local function is_alive(deadline)
    local ticks_are_overdue = now - tonumber(run.bucketAt or now) > math.max(5000, 3 * tonumber(conf.tickMs or 0))
    return deadline > virtual_now or ticks_are_overdue
end
