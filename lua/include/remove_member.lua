-- remove_member: removes a member from the line, from a READY or expired place, or from those set aside.
-- Needs KEYS state, away, awayUntil, places, ready, pickup, seated and includes queue, places, end_turn,
-- set_aside, draw, lanes, line_membership (with all of their keys).

local function remove_member(member, kind, it)
    end_turn(it.seq)
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
