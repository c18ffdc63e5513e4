#!lua flags=no-writes
-- seats_mine: what a member holds in a show.
--@keys show:info show:mine
--@args member
-- Returns {OK, now, the member's record of holds, expired ones included}, or {NOT_FOUND, show}.
-- Safe because it only reads; one field, whatever the size of the show.
local time = redis.call('TIME')
if redis.call('HEXISTS', key_show_info, 'version') == 0 then
    return { 'NOT_FOUND', 'show' }
end
return { 'OK', time[1] * 1000 + math.floor(time[2] / 1000), redis.call('HGET', key_show_mine, arg_member) or '' }
