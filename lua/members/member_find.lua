#!lua flags=no-writes
-- member_find: where one member stands, for support.
--@keys settings state waiting away awayUntil places ready pickup claimed unpaid departures priority draw drawn drawGone drawLeft laneNumbers marks
--@args member
-- Returns {OK, READY | CLAIMED | WAITING | AWAY | NONE, seq, generation, rank (-1 none), end in ms (0 none: of
-- the token, of the claim's lease, or of the number kept while away), has picked the token up 0|1, unpaid order
-- ('' none), queueState, now, lane ('' none)}, or NOT_FOUND.
-- Safe because it only reads.
--@include queue
--@include places
--@include set_aside
--@include draw
--@include lanes
--@include find_in_line
--@include marks
--@include line_membership
--@include rate
--@include position

local place = place_of(arg_member)
local kind, seq, generation, rank, ends, seen, lane = 'NONE', 0, 0, -1, 0, 0, ''
if place then
    seq, generation, lane = place.seq, place.generation, lane_of(place.seq)
    if place.claim ~= '' then
        kind, seen = 'CLAIMED', 1
        ends = tonumber(redis.call('ZSCORE', key_claimed, arg_member) or 0)
    else
        kind = 'READY'
        ends = tonumber(redis.call('ZSCORE', key_ready, arg_member) or 0) + (now - virtual_now)
        seen = redis.call('ZSCORE', key_pickup, arg_member) and 0 or 1
    end
else
    local it = find_in_line(arg_member)
    local score = not it and redis.call('ZSCORE', key_away, arg_member)
    if it then
        kind, seq, generation, rank, lane = 'WAITING', it.seq, it.generation, rank_of(arg_member, it), it.lane
    elseif score then
        kind, ends = 'AWAY', tonumber(redis.call('ZSCORE', key_awayUntil, arg_member) or 0)
        seq, generation = math.floor(tonumber(score) / GENERATIONS), tonumber(score) % GENERATIONS
        lane = lane_of(seq)
    end
end
return { 'OK', kind, seq, generation, rank, ends, seen, string.match(redis.call('HGET', key_unpaid, arg_member) or '', '%S*'),
    queue_state(), now, lane }
