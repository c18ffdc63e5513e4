#!lua
-- leader_release: gives up the leadership at an orderly shutdown, before the lease expires.
--@keys leader
--@args owner
-- Returns {RELEASED} or {NOT_LEADER}.
-- Safe because another owner's lock is never deleted.
if redis.call('GET', key_leader) ~= arg_owner then
    return { 'NOT_LEADER' }
end
redis.call('DEL', key_leader)
return { 'RELEASED' }
