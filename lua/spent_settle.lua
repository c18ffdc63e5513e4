#!lua
-- spent_settle: before a queue whose last writes Redis may have lost is used again, applies the numbers whose owners have
-- spent an admission of this epoch: where Redis does not know it, the owners leave the line or their place.
--@keys settings state waiting away awayUntil places ready pickup departures seated seatedNext priority draw drawn drawGone drawLeft laneNumbers marks
--@args incarnation epoch after
-- then a page of numbers above `after`, ascending; none once all are loaded.
-- Returns {LOADED}, {PRESENT} where the queue is back in this incarnation already, {OLDER, the latest incarnation known} where
-- the preparation has to begin anew (see include preparation), or NOT_FOUND.
-- Safe because PostgreSQL is authoritative and a spent admission ends the number's turn for good: repeats and late calls
-- change nothing more. A CLAIMED place is left to reconcile, which settles its claim.
--@include queue
--@include marks
if run.incarnation == arg_incarnation then
    return { 'PRESENT' }
end
--@include places
--@include turn
--@include set_aside
--@include draw
--@include lanes
--@include find
--@include stand
--@include preparation
-- A reset that Redis does not know or has lost: the numbers are those of a new line, and begin at 1 again. queue_publish will
-- empty this one.
local is_reset = conf.epoch ~= arg_epoch
local continues, latest = continues_preparation(is_reset)
if not continues then
    return { 'OLDER', latest }
end

if is_reset then
    mark_for_new_line()
    return { 'LOADED' }
end

local function owner_in(set, number)
    local first = number and string.format('%.0f', number * GENERATIONS)
    return first and redis.call('ZRANGEBYSCORE', set, first, string.format('%.0f', (number + 1) * GENERATIONS - 1),
        'LIMIT', 0, 1)[1]
end

local ended, some = {}, false
for i = FIRST_NUMBER, #ARGV do
    local seq = tonumber(ARGV[i])
    if turn_is_over(seq) then
        ended[seq], some = true, true
        redis.call('HINCRBY', key_state, 'consumed', 1)
        local member = owner_in(key_waiting, seq) or owner_in(key_priority, seq)
            or owner_in(key_priority, seq - INVITED) or owner_in(key_draw, seq)
            or owner_in(key_drawn, the_draw() and place_of_number(seq))
        if member then
            step_out(member, find_in_line(member))
        else
            member = owner_in(key_away, seq)
            if member then
                redis.call('ZREM', key_away, member)
                redis.call('ZREM', key_awayUntil, member)
            end
        end
    end
end
local records = some and redis.call('HGETALL', key_places) or {}
for i = 1, #records, 2 do
    local place = read_record(records[i + 1])
    if place and ended[place.seq] and place.claim == '' then
        redis.call('ZREM', key_pickup, records[i])
        redis.call('ZREM', key_ready, records[i])
        redis.call('HDEL', key_places, records[i])
    end
end
return { 'LOADED' }
