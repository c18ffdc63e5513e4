#!lua
-- tenures_write: records which primaries have complete data; programs use no other.
--@global tenures
--@args
-- then run id, replication id, run id, replication id, …
-- Returns {OK}. `since` identifies this write; `complete` is removed until tenures_complete sets it again.
-- Safe because only reconcile writes it, all of it in one step, and only after it has recovered the queues of every server
-- added. A repeated or late write does no harm: replication ids are never reused, so it admits no other server.
local time = redis.call('TIME')
redis.call('DEL', key_tenures)
redis.call('HSET', key_tenures, 'since', time[1] .. '.' .. time[2], unpack(ARGV))
return { 'OK' }
