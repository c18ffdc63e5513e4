#!lua
-- member_admit: an operator lets one member in, past the line.
--@keys settings state waiting away awayUntil places ready pickup claimed unpaid departures seated arrivals priority draw drawn drawGone drawLeft laneNumbers marks
--@args member token admission
-- Returns {ADMITTED} also where the member has a place already, or NO_ROOM, ALREADY_ACTIVE, NOT_FOUND.
-- Safe because leaving the line and getting the place are one step. It takes one from the bucket, which may go below zero
-- and is refilled by the following ticks, so the rate holds over time. maxActive is never exceeded.
--@include queue
--@include places
--@include end_turn
--@include set_aside
--@include draw
--@include lanes
--@include find_in_line
--@include marks
--@include line_membership
--@include find_member
--@include is_locked
--@include remove_member
--@include rate
--@include bucket
--@include admit_while_idle
--@include visit

local kind, it = find_member(arg_member)
if kind == 'READY' or kind == 'CLAIMED' then
    return { 'ADMITTED' }
elseif redis.call('HEXISTS', key_unpaid, arg_member) == 1 then
    return { 'ALREADY_ACTIVE' }
end
local limits = hash_fields(key_settings, 'maxActive')
local taken = redis.call('ZCARD', key_ready) + redis.call('ZCARD', key_claimed) + redis.call('HLEN', key_unpaid)
if taken >= tonumber(limits.maxActive) or (kind == 'NONE' and is_locked()) then
    return { 'NO_ROOM' }
end
if kind == 'NONE' then
    it = { seq = redis.call('HINCRBY', key_state, 'seq', 1), generation = 0 }
    redis.call('HINCRBY', key_state, 'entered', 1)
    redis.call('ZADD', key_arrivals, it.seq, math.floor(now / 1000))
    number_is_missing('main', it.seq)
else
    remove_member(arg_member, kind, it)
end
take_between_ticks(look_into_bucket(rate_in_force(), burst_in_force()))
give_place(arg_member, it, arg_token, arg_admission, virtual_now + ttl_ms)
return { 'ADMITTED' }
