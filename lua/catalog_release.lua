#!lua
-- catalog_release: a flight ends without an object.
--@keys catalog
--@args token
-- Returns {RELEASED}, or {LOST} where the flight was another's already.
-- Safe because only the flight's own token ends it.

if redis.call('HGET', key_catalog, 'owner') ~= arg_token then
    return { 'LOST' }
end
redis.call('HDEL', key_catalog, 'owner', 'ownerUntil')
return { 'RELEASED' }
