-- depart: removes a member from the line, from a READY or expired place, or from those set aside.
-- Needs KEYS state, away, awayUntil, places, ready, pickup, seated and includes queue, places, turn,
-- set_aside, draw, lanes, stand (with all of their keys).

local function depart(member, kind, it)
    turn_is_over(it.seq)
    if kind == 'READY' or kind == 'EXPIRED' then
        redis.call('HDEL', key_places, member)
        redis.call('ZREM', key_ready, member)
        redis.call('ZREM', key_pickup, member)
    elseif kind == 'AWAY' then
        redis.call('ZREM', key_away, member)
        redis.call('ZREM', key_awayUntil, member)
        if lane_of(it.seq) == 'main' then
            number_is_missing('main', it.seq)
        end
    else
        step_out(member, it)
    end
end
