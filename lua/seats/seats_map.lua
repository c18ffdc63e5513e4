#!lua flags=no-writes
-- seats_map: a consistent snapshot of all seats of a show.
--@keys show:info show:board show:mine show:owned
--@args member
-- member: the caller, '' for none.
-- Returns {OK, now, version of the plan, seats in it, board, the member's record of holds, the seats that the
-- member has ordered}, or {NOT_FOUND, show}.
-- Safe because it only reads. The board is one string: a show of 50,000 seats costs Redis one copy.
local time = redis.call('TIME')
local show = redis.call('HMGET', key_show_info, 'version', 'total')
if not show[1] then
    return { 'NOT_FOUND', 'show' }
end
return { 'OK', time[1] * 1000 + math.floor(time[2] / 1000), tonumber(show[1]), tonumber(show[2]),
    redis.call('GET', key_show_board) or '', redis.call('HGET', key_show_mine, arg_member) or '',
    redis.call('HGET', key_show_owned, arg_member) or '' }
