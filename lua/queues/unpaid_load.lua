#!lua
-- unpaid_load: before a queue that lost its memory or its last writes comes back, loads the places that unpaid orders hold.
--@keys settings state unpaid
--@args incarnation
-- then member, order id, member, order id, …
-- Returns {LOADED}, {PRESENT} where the queue is back in this incarnation already, or {OLDER, the latest incarnation known}
-- where another one is prepared, or none any more: the recovery has to begin anew.
-- Safe because it writes only before the queue is back in this incarnation, while programs do not use this Redis: a place
-- that was freed in PostgreSQL meanwhile is freed here afterwards. Repeats change nothing.
--@include unpaid

local incarnation, prepared = unpack(redis.call('HMGET', key_state, 'incarnation', 'preparedFor'))
if redis.call('EXISTS', key_settings) == 1 and incarnation == arg_incarnation then
    return { 'PRESENT' }
elseif prepared ~= arg_incarnation then
    return { 'OLDER', math.max(tonumber(incarnation or 0), tonumber(prepared or 0)) }
end
for i = 2, #ARGV, 2 do
    hold_place(ARGV[i], ARGV[i + 1])
end
return { 'LOADED' }
