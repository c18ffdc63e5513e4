#!lua
-- catalog_release: ends a flight that stored no object.
--@keys catalog
--@args token
-- Returns {RELEASED}, or {LOST} where another flight has taken over.
-- Safe because only the recorded token ends the flight.

if redis.call('HGET', key_catalog, 'owner') ~= arg_token then
    return { 'LOST' }
end
redis.call('HDEL', key_catalog, 'owner', 'ownerUntil')
return { 'RELEASED' }
