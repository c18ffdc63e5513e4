-- locate: where a member stands. The entry token is looked at first, then the line, then those set aside.
-- Needs KEYS places, ready, pickup, waiting, away, awayUntil, state, seated and includes queue, places,
-- turn, set_aside.
-- Kinds: CLAIMED, READY (with .deadline), EXPIRED (a READY place past its deadline that no tick has
-- collected yet), WAITING, AWAY, NONE.
local function locate(member)
    local place = place_of(member)
    if place then
        if place.claim ~= '' then
            return 'CLAIMED', place
        end
        place.deadline = tonumber(redis.call('ZSCORE', key_ready, member) or 0)
        if is_alive(place.deadline) then
            return 'READY', place
        elseif redis.call('ZSCORE', key_pickup, member) then
            set_aside(member, place, tonumber(run.awayMs or 0))
        else
            return 'EXPIRED', place
        end
    end
    local kind, score = 'WAITING', redis.call('ZSCORE', key_waiting, member)
    if not score then
        kind, score = 'AWAY', redis.call('ZSCORE', key_away, member)
    end
    if not score then
        return 'NONE', nil
    end
    score = tonumber(score)
    return kind, { seq = math.floor(score / GENERATIONS), generation = score % GENERATIONS }
end

local function stand_in_line(member, seq, generation)
    redis.call('ZADD', key_waiting, seq * GENERATIONS + generation, member)
end

local function drop_expired(member, place)
    turn_is_over(place.seq)
    redis.call('HDEL', key_places, member)
    redis.call('ZREM', key_ready, member)
    redis.call('ZREM', key_pickup, member)
    redis.call('HINCRBY', key_state, 'expired', 1)
end

-- Whoever was set aside stands in line again at the number of old.
local function come_back(member, it)
    redis.call('ZREM', key_away, member)
    redis.call('ZREM', key_awayUntil, member)
    stand_in_line(member, it.seq, it.generation)
end

-- A ticket signed before Redis lost its memory: seats its owner at the ticket's own number, once a
-- number. Numbers whose owner has spent an admission were marked in `seated` before the queue came back.
-- A place that the member took meanwhile, behind the own number, is given up for it.
local function seat_again(member, kind, it, ticket)
    if kind ~= 'NONE' and not (kind == 'WAITING' and it.seq >= ticket.seq) then
        return kind, it
    end
    if kind == 'WAITING' and it.seq == ticket.seq then
        if ticket.generation > it.generation then
            it.generation = ticket.generation
            stand_in_line(member, it.seq, it.generation)
        end
        return kind, it
    end
    if not turn_is_over(ticket.seq) then
        return kind, it
    end
    if ticket.seq > tonumber(run.seq) then
        redis.call('HSET', key_state, 'seq', ticket.seq)
        run.seq = ticket.seq
    end
    stand_in_line(member, ticket.seq, ticket.generation)
    return 'WAITING', { seq = ticket.seq, generation = ticket.generation }
end
