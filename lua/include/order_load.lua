-- order_load: counts how an order went, in a round trip that it makes anyway. Needs KEYS orderLoad, ARG load: the field to
-- increment (b0…b31: answered within 2^(i/2) ms; errors; timeouts), '' for none.
local function note_load()
    if arg_load ~= '' then
        redis.call('HINCRBY', key_orderLoad, arg_load, 1)
    end
end
