#!lua
-- spent_load: before a lost queue comes back, marks the numbers whose owners have spent an admission of this epoch, so
-- that no ticket restores them.
--@keys settings state seated
--@args incarnation
-- then numbers, or none.
-- Returns {LOADED}, or {PRESENT} where the queue exists already. A deleted queue does not count as existing: its line is gone,
-- and PostgreSQL has created it again.
-- Safe because it writes only while the queue does not exist, when no member can have been restored. It records the
-- incarnation it has prepared, and queue_publish recovers only that one: a queue lost again meanwhile does not come back
-- without its numbers.
--@include turn

if redis.call('EXISTS', key_settings) == 1 and redis.call('HGET', key_settings, 'deleted') ~= '1' then
    return { 'PRESENT' }
end
redis.call('HSET', key_state, 'preparedFor', arg_incarnation)
for i = 2, #ARGV do
    turn_is_over(tonumber(ARGV[i]))
end
return { 'LOADED' }
