-- seat_again: a ticket signed before Redis lost its memory restores its owner to the ticket's number and lane, once a
-- number. Numbers whose owner has spent an admission were marked in `seated` before the queue came back. A place in line
-- that the member took meanwhile, at a higher number, is given up for it. Where the number still has its place and the
-- ticket is from a later takeover than Redis knows, the place takes over the ticket's generation. A member with an unpaid
-- order holds a place by it and gets no second one. Not to be called while the queue is locked (include is_locked).
-- Needs KEYS state, seated, places, away, unpaid, entrants and includes queue, places, end_turn, set_aside, draw, lanes,
-- line_membership, ticket, entrants.

-- The lane for the ticket's number now: a lottery number that the draw does not contain goes to lane main, where its low
-- number puts it before all who entered after the opening.
local function lane_of_ticket()
    if ticket.lane == 'priority' or ticket.lane == 'invite' then
        return ticket.lane
    elseif ticket.lane ~= 'lottery' then
        return 'main'
    elseif the_draw() then
        return place_of_number(ticket.seq) and 'lottery' or 'main'
    end
    return run.drawClosed ~= '1' and 'lottery' or lane_of(ticket.seq)
end

local function take_over_again(member, kind, it)
    it.generation = ticket.generation
    if kind == 'AWAY' then
        redis.call('ZADD', key_away, it.seq * GENERATIONS + it.generation, member)
    else
        redis.call('HSET', key_places, member, place_record(it))
    end
end

local function seat_again(member, kind, it)
    if (kind == 'READY' or kind == 'CLAIMED' or kind == 'AWAY') and ticket_took_over(it) then
        take_over_again(member, kind, it)
    end
    if kind ~= 'NONE' and not (kind == 'WAITING' and it.seq >= ticket.seq) then
        return kind, it
    elseif kind == 'NONE' and redis.call('HEXISTS', key_unpaid, member) == 1 then
        return kind, it
    end
    local seated = { seq = ticket.seq, generation = ticket.generation, lane = lane_of_ticket() }
    if kind == 'WAITING' and it.seq == ticket.seq then
        if not ticket_took_over(it) then
            return kind, it
        end
    elseif not end_turn(ticket.seq) then
        return kind, it
    elseif seated.lane == 'lottery' and not the_draw() and run.drawClosed ~= '1' then
        list_entrant(member, seated.seq)
    end
    if kind == 'WAITING' and it.lane ~= seated.lane then
        step_out(member, it)
    elseif kind == 'WAITING' then
        redis.call('ZREM', it.set, member)
        if it.lane == 'main' then
            mark_number(it.seq, MARK_GONE)
        end
    end
    if ticket.seq > tonumber(run.seq) then
        redis.call('HSET', key_state, 'seq', ticket.seq, 'countedFrom', ticket.seq + 1)
        run.seq = ticket.seq
    end
    stand_in_line(member, seated)
    if seated.lane == 'main' then
        mark_number(seated.seq, MARK_ASK)
    end
    return 'WAITING', seated
end
