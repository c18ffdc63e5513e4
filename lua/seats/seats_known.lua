#!lua flags=no-writes
-- seats_known: the version of a show that Redis knows.
--@keys show:info show:held
--@args
-- Returns {OK, version, seats held now, when that version was stored ('' where it was loaded by a release that does not
-- say), highest version that is in force or being loaded}, or {NOT_FOUND, show, version being loaded or 0}.
-- Safe because it only reads.
local time = redis.call('TIME')
local version, updated, loading = unpack(redis.call('HMGET', key_show_info, 'version', 'updated', 'loading'))
if not version then
    return { 'NOT_FOUND', 'show', tonumber(loading or 0) }
end
return { 'OK', tonumber(version), redis.call('ZCOUNT', key_show_held,
    '(' .. time[1] * 1000 + math.floor(time[2] / 1000), '+inf'), updated or '',
    math.max(tonumber(version), tonumber(loading or 0)) }
