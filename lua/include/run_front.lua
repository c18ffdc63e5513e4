-- run_front: of `state` only what a poll from the main line needs, see include main_line; include run_rest adds what else
-- include queue has. Needs KEYS state.
local run
do
    local incarnation, rate, sold_out, due = unpack(redis.call('HMGET', key_state, 'incarnation', 'rateEma', 'soldOut',
        'soldOutDue'))
    run = {
        incarnation = incarnation or nil, rateEma = rate or nil, soldOut = sold_out or nil, soldOutDue = due or nil,
    }
end
