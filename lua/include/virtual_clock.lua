-- virtual_clock: a clock that stands still while nothing can be bought, so that the deadlines of READY members, which
-- are kept in its time, all move by an outage without being touched. Needs includes settings and run, with
-- frozenMs, frozenSince, bucketAt. Defines frozen_since, virtual_now, is_alive().
local frozen_since = tonumber(run.frozenSince or 0)
local virtual_now = now - tonumber(run.frozenMs or 0)
if frozen_since > 0 then
    virtual_now = virtual_now - (now - frozen_since)
end

-- Whether a READY place with that deadline lives. Without recent ticks nobody knows yet whether the
-- deadline moves by an outage, so it does.
local function is_alive(deadline)
    local ticks_are_overdue = now - tonumber(run.bucketAt or now) > math.max(5000, 3 * tonumber(conf.tickMs or 0))
    return deadline > virtual_now or ticks_are_overdue
end
