#!lua
-- queue_lock: keeps an empty queue empty: nobody enters before a later version of its settings is published.
--@keys settings state waiting away ready pickup claimed unpaid priority draw drawn
--@args version scope
-- scope: line, where nobody may wait, be away with a number kept, or have a token that was not picked up: its owner returns
-- to the line once it is withdrawn; all, where nobody may hold a token, order or have an unpaid order either.
-- Returns {OK}, {QUEUE_BUSY, waiting, away, ready, claimed, unpaid, pickup}, {OLDER} where Redis has another version, or
-- NOT_FOUND. pickup: of ready, those whose token was not picked up.
-- Safe because it looks and locks in one step. Whoever locks then changes the queue in PostgreSQL, on this version only, and
-- publishes the change; any later version lifts the lock. If the change never comes, reconcile raises the version.
--@include queue
--@include lanes
if redis.call('HGET', key_settings, 'version') ~= arg_version then
    return { 'OLDER' }
end
local waiting, away = in_line(), redis.call('ZCARD', key_away)
local ready, claimed, unpaid = redis.call('ZCARD', key_ready), redis.call('ZCARD', key_claimed), redis.call('HLEN', key_unpaid)
local pickup = redis.call('ZCARD', key_pickup)
if waiting + away + pickup > 0 or (arg_scope == 'all' and ready + claimed + unpaid > 0) then
    return { 'QUEUE_BUSY', waiting, away, ready, claimed, unpaid, pickup }
end
-- With a longest line of -1, entries get QUEUE_FULL.
redis.call('HSET', key_settings, 'maxWaiting', '-1', 'lockedVersion', arg_version)
--@include conf_fields
redis.call('HSET', key_settings, 'packed',
    cmsgpack.pack(unpack(redis.call('HMGET', key_settings, unpack(CONF_FIELDS)))))
return { 'OK' }
