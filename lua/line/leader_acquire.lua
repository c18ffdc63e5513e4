#!lua
-- leader_acquire: takes or renews the leadership of a queue.
--@keys leader
--@args owner leaseMs
-- Returns {LEADER}, or {FOLLOWER, ms left of the other owner's lease}.
-- Safe because another owner's lock is never replaced; promote checks the owner again in the step that acts.
local holder = redis.call('GET', key_leader)
if holder and holder ~= arg_owner then
    return { 'FOLLOWER', redis.call('PTTL', key_leader) }
end
redis.call('SET', key_leader, arg_owner, 'PX', arg_leaseMs)
return { 'LEADER' }
