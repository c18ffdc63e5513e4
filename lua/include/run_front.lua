-- run_front: the fields of `state` that include main_line needs; include run_rest reads the others of include queue. Needs
-- KEYS state.
local run
do
    local incarnation, rate, sold_out, due = unpack(redis.call('HMGET', key_state, 'incarnation', 'rateEma', 'soldOut',
        'soldOutDue'))
    run = {
        incarnation = incarnation or nil, rateEma = rate or nil, soldOut = sold_out or nil, soldOutDue = due or nil,
    }
end
