-- load: what an order has cost, reported in the round trip that it makes anyway. Needs KEYS orderLoad, ARG load: the
-- field that it counts in (b0…b31: answered within 2^(i/2) ms; errors; timeouts), or '' where there is nothing to report.
local function note_load()
    if arg_load ~= '' then
        redis.call('HINCRBY', key_orderLoad, arg_load, 1)
    end
end
