#!lua
-- seats_load: loads one piece of a show's plan; the last piece puts the plan in force.
--@keys show:info show:plan show:planNext show:board show:boardNext show:held show:holds show:mine show:taken
--@args loader version updated maxSeats holdTtlMs total first
-- then the seats from position `first` on. loader: id of this load; updated: when this version was stored, in µs; total:
-- number of seats of the plan.
-- Returns {LOADED}, {PRESENT} where this version or a later one is in force, {OLDER} where another load has taken over.
-- The same version with another `updated` is another one: PostgreSQL lost the one in force and has numbered anew.
-- Safe because the new plan and its board are built beside the old ones, every transition writes both boards meanwhile, and
-- the last piece replaces the old ones in one step. A load of the same or a later version takes over when it begins; further
-- pieces of the load before it, and pieces out of order, are refused.
local FIRST = 8
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
--@include seats

local version, first = tonumber(arg_version), tonumber(arg_first)
local by, loaded, updated = unpack(redis.call('HMGET', key_show_info, 'loadingBy', 'loaded', 'updated'))
local known = tonumber(show.version or 0)
if known > version or (known == version and updated == arg_updated) then
    return { 'PRESENT' }
elseif show.loading and tonumber(show.loading) > version then
    return { 'OLDER' }
end
if first == 0 then
    redis.call('UNLINK', key_show_planNext, key_show_boardNext)
    redis.call('HSET', key_show_info, 'loading', arg_version, 'loadingBy', arg_loader, 'loaded', 0)
elseif by ~= arg_loader or tonumber(loaded) ~= first then
    return { 'OLDER' }
end

local seats = { unpack(ARGV, FIRST) }
if #seats > 0 then
    local numbers, cells = {}, {}
    local ends = redis.call('ZMSCORE', key_show_held, unpack(seats))
    local recorded = redis.call('HMGET', key_show_taken, unpack(seats))
    for i, seat in ipairs(seats) do
        local order, until_ms = taken_of(recorded[i]), tonumber(ends[i] or 0)
        numbers[#numbers + 1] = seat
        numbers[#numbers + 1] = first + i - 1
        if order and order.state ~= 'F' then
            cells[i] = cell(order.state, 0)
        else
            cells[i] = cell(until_ms > now and 'H' or '', until_ms)
        end
    end
    redis.call('HSET', key_show_planNext, unpack(numbers))
    redis.call('SETRANGE', key_show_boardNext, first * CELL, table.concat(cells))
end

local so_far = first + #seats
if so_far < tonumber(arg_total) then
    redis.call('HSET', key_show_info, 'loaded', so_far)
    return { 'LOADED' }
end
redis.call('UNLINK', key_show_plan, key_show_board)
if so_far > 0 then
    redis.call('RENAME', key_show_planNext, key_show_plan)
    redis.call('RENAME', key_show_boardNext, key_show_board)
end
redis.call('HDEL', key_show_info, 'loading', 'loadingBy', 'loaded')
redis.call('HSET', key_show_info, 'version', arg_version, 'updated', arg_updated, 'maxSeats', arg_maxSeats,
    'holdTtlMs', arg_holdTtlMs, 'total', arg_total)
return { 'LOADED' }
