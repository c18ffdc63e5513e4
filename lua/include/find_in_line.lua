-- find_in_line: a member's place in line. Needs KEYS as include lanes, and includes queue, set_aside, draw, lanes.

-- Number, generation, lane, set and, in a draw that was held, the place drawn; nil for a member who is not in line.
local function find_in_line(member)
    local set, score = key_waiting, redis.call('ZSCORE', key_waiting, member)
    for _, other in ipairs({ key_priority, key_draw, key_drawn }) do
        if not score then
            set, score = other, redis.call('ZSCORE', other, member)
        end
    end
    if not score then
        return nil
    end
    score = tonumber(score)
    local it = { seq = math.floor(score / GENERATIONS), generation = score % GENERATIONS, set = set }
    if set == key_waiting then
        it.lane = 'main'
    elseif set == key_priority then
        it.lane = it.seq < 0 and 'invite' or 'priority'
        it.seq = it.seq < 0 and it.seq + INVITED or it.seq
    else
        it.lane = 'lottery'
        if set == key_drawn then
            it.place, it.seq = it.seq, number_of_place(it.seq)
        else
            it.place = place_of_number(it.seq)
        end
    end
    return it
end
