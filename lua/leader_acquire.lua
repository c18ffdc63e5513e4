#!lua
-- leader_acquire: takes or renews the leadership of a queue.
--@keys leader
--@args owner leaseMs
-- Returns {LEADER}, or {FOLLOWER, ms that the other's lease still lasts}.
-- Safe because a lock of another owner is left alone; who holds it is asked again inside promote.
local holder = redis.call('GET', key_leader)
if holder and holder ~= arg_owner then
    return { 'FOLLOWER', redis.call('PTTL', key_leader) }
end
redis.call('SET', key_leader, arg_owner, 'PX', arg_leaseMs)
return { 'LEADER' }
