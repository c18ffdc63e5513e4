#!lua
-- tenures_complete: records that Redis has every queue of PostgreSQL; a request for another queue is then NOT_FOUND.
--@global tenures
--@args since
-- since: the field of that name as read before the queues were checked, '' for none.
-- Returns {OK}, or {OLDER} where Redis has been wiped or the tenures written again since: check the queues again.
-- Safe because each write of the tenures has a unique `since` and removes `complete`: it is never set for a state of Redis
-- other than the one that was checked.
if redis.call('EXISTS', key_tenures) == 0 or (redis.call('HGET', key_tenures, 'since') or '') ~= arg_since then
    return { 'OLDER' }
end
redis.call('HSET', key_tenures, 'complete', 1)
return { 'OK' }
