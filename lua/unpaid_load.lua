#!lua
-- unpaid_load: before a queue that lost its memory, or the last of it, comes back: the places that unpaid orders hold.
--@keys settings state unpaid
--@args incarnation
-- then member, order id, member, order id, …
-- Returns {LOADED}, or {PRESENT} where the queue is there already.
-- Safe because it acts only before the queue is there in this incarnation, while programs do not speak to this Redis:
-- whatever frees a place meanwhile, frees it afterwards.
--@include unpaid

if redis.call('EXISTS', key_settings) == 1 and redis.call('HGET', key_state, 'incarnation') == arg_incarnation then
    return { 'PRESENT' }
end
for i = 2, #ARGV, 2 do
    hold_place(ARGV[i], ARGV[i + 1])
end
return { 'LOADED' }
