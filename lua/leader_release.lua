#!lua
-- leader_release: hands the leadership over at once, at an orderly end.
--@keys leader
--@args owner
-- Returns {RELEASED} or {NOT_LEADER}.
-- Safe because the lock of another owner is left alone.
if redis.call('GET', key_leader) ~= arg_owner then
    return { 'NOT_LEADER' }
end
redis.call('DEL', key_leader)
return { 'RELEASED' }
