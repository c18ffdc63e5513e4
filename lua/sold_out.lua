#!lua
-- sold_out: carries PostgreSQL's word on whether anything is left to the line.
--@keys settings state
--@args change soldOut
-- change: number of the finding, taken under one row lock a queue; soldOut: 1 or 0.
-- Returns {SET}, {OLDER}, or NOT_FOUND.
-- Safe because an older finding that arrives late is ignored: "sold out" and "came back" cannot cross.
--@include queue

if tonumber(arg_change) <= tonumber(redis.call('HGET', key_state, 'soldOutChange') or 0) then
    return { 'OLDER' }
end
redis.call('HSET', key_state, 'soldOutChange', arg_change, 'soldOut', arg_soldOut)
if arg_soldOut == '1' and run.soldOut ~= '1' then
    redis.call('HSET', key_state, 'soldOutAt', now)
end
return { 'SET' }
