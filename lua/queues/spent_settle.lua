#!lua
-- spent_settle: before a queue whose last writes Redis may have lost is used again, applies the numbers whose owners have
-- spent an admission of this epoch: owners who are still there leave the line or their place.
--@keys settings state waiting away awayUntil places ready pickup claimed departures seated seatedNext priority draw drawn drawGone drawLeft laneNumbers marks
--@args incarnation epoch after
-- then a page of numbers above `after`, ascending; none once all are loaded.
-- Returns {LOADED}, {MORE} where the call without numbers has to be repeated: it looks through some of the places; {PRESENT}
-- where the queue is back in this incarnation already, {OLDER, the latest incarnation known} where the preparation has to
-- begin anew (see include preparation), or NOT_FOUND.
-- Safe because PostgreSQL is authoritative and a spent admission ends the number's turn for good: repeats and late calls
-- change nothing more. A CLAIMED place is left to reconcile, which settles its claim.
--@include queue
--@include marks
if run.incarnation == arg_incarnation then
    return { 'PRESENT' }
end
--@include places
--@include end_turn
--@include set_aside
--@include draw
--@include lanes
--@include find_in_line
--@include line_membership
--@include preparation
--@include spent_bits
--@include spent_places
-- A reset that Redis does not know or has lost: the numbers are those of a new line, and begin at 1 again. queue_publish
-- will empty this one.
local is_reset = conf.epoch ~= arg_epoch
local continues, latest = continues_preparation(is_reset)
if not continues then
    return { 'OLDER', latest }
end

if is_reset then
    mark_for_new_line()
    return { 'LOADED' }
end

if not ARGV[FIRST_NUMBER] then
    if not settle_places() then
        return { 'MORE' }
    end
    complete_preparation()
    return { 'LOADED' }
end

-- Most pages are of numbers before the front: only those sets are searched in which a number of the page stands.
local function score_of(number)
    return string.format('%.0f', number * GENERATIONS)
end
local function has_some(set, shift)
    return redis.call('ZCOUNT', set, score_of(ARGV[FIRST_NUMBER] + shift),
        '(' .. score_of(ARGV[#ARGV] + shift + 1)) > 0
end
local lanes = {}
for _, lane in ipairs({ { key_waiting, 0 }, { key_priority, 0 }, { key_priority, -INVITED }, { key_draw, 0 } }) do
    if has_some(unpack(lane)) then
        lanes[#lanes + 1] = lane
    end
end
local some_away, some_drawn = has_some(key_away, 0), redis.call('ZCARD', key_drawn) > 0

local function owner_in(set, number)
    return redis.call('ZRANGEBYSCORE', set, score_of(number), '(' .. score_of(number + 1), 'LIMIT', 0, 1)[1]
end
local function find_owner(seq)
    for _, lane in ipairs(lanes) do
        local member = owner_in(lane[1], seq + lane[2])
        if member then
            return member
        end
    end
    local drawn = some_drawn and the_draw() and place_of_number(seq)
    return drawn and owner_in(key_drawn, drawn)
end

-- Returns whether there was a member in line to remove.
local function remove_from_line(seq)
    local member = find_owner(seq)
    if member then
        step_out(member, find_in_line(member))
        return true
    end
    member = some_away and owner_in(key_away, seq)
    if member then
        redis.call('ZREM', key_away, member)
        redis.call('ZREM', key_awayUntil, member)
    end
    return member
end

-- A number that is marked already may have its owner here: one who was seated again after an earlier loss, or whom an
-- operator has let in.
local count = 0
for i = FIRST_NUMBER, #ARGV do
    local seq = tonumber(ARGV[i])
    local was_not_over = end_turn(seq)
    local is_new = remove_from_line(seq) or was_not_over
    note_spent(seq, is_new)
    if is_new then
        count = count + 1
    end
end
redis.call('HINCRBY', key_state, 'consumed', count)
return { 'LOADED' }
