-- coupons: PostgreSQL's last finding on the coupon events of a queue. Needs KEYS coupons.
-- A hash: event to its record total/gone/opensMs/endsMs (0: no such time); ':change', which is no valid event id, holds the
-- change number of the finding.

-- Nil for an event that Redis does not know.
local function coupon_event(event)
    local total, gone, opens, ends =
        string.match(redis.call('HGET', key_coupons, event) or '', '^(%d+)/([01])/(%d+)/(%d+)$')
    if not total then
        return nil
    end
    return { total = tonumber(total), gone = gone == '1', opens = tonumber(opens), ends = tonumber(ends) }
end
