#!lua
-- tenures_complete: every queue that PostgreSQL knows is in Redis; whoever asks for another one has misspelt it.
--@global tenures
--@args since
-- since: the field of that name as it was before the queues were looked at, '' for none.
-- Returns {OK}, or {OLDER} where Redis has forgotten everything since, or begun anew: look at the queues once more.
-- Safe because each writing of the tenures has a name of its own and takes the word back, so it never outlives what it
-- was found about.
if redis.call('EXISTS', key_tenures) == 0 or (redis.call('HGET', key_tenures, 'since') or '') ~= arg_since then
    return { 'OLDER' }
end
redis.call('HSET', key_tenures, 'complete', 1)
return { 'OK' }
