#!lua
-- tenures_write: which primaries' data are whole; programs speak to no other.
--@global tenures
--@args
-- then run id, replication id, run id, replication id, …
-- Returns {OK}. `since` names this writing; that all queues are there is forgotten until it is found anew (tenures_complete).
-- Safe because reconcile alone writes it, all of it in one step, and only after it has recovered the queues at servers
-- that were not in it. Written twice, or too late: replication ids never come again, so an old word lets nobody in.
local time = redis.call('TIME')
redis.call('DEL', key_tenures)
redis.call('HSET', key_tenures, 'since', time[1] .. '.' .. time[2], unpack(ARGV))
return { 'OK' }
