#!lua
-- spent_load: before a queue that lost its memory comes back: the numbers whose owners have spent an
-- admission of this epoch, so that none of them is seated again.
--@keys settings state seated
--@args incarnation
-- then numbers, or none.
-- Returns {LOADED}, or {PRESENT} where the queue is there already. One that was deleted is not: its line is gone, and
-- PostgreSQL has made it anew meanwhile.
-- Safe because it acts only while the queue is not there: nobody can have been seated yet. It leaves word
-- for which incarnation it has prepared, so that a queue that was lost once more meanwhile does not come
-- back without its numbers.
--@include turn

if redis.call('EXISTS', key_settings) == 1 and redis.call('HGET', key_settings, 'deleted') ~= '1' then
    return { 'PRESENT' }
end
redis.call('HSET', key_state, 'preparedFor', arg_incarnation)
for i = 2, #ARGV do
    turn_is_over(tonumber(ARGV[i]))
end
return { 'LOADED' }
