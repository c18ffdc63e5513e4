-- seats: the keys of a show's seats, and the functions that keep them consistent.
-- Needs KEYS show:info, show:plan, show:planNext, show:board, show:boardNext, show:held, show:holds, show:mine
-- and now, the time in ms.
--   info   version, updated, maxSeats, holdTtlMs, total; loading, loadingBy, loaded while another version is being loaded
--   plan   seat → position        board  a cell a position: state, and for a hold its end
--   held   seat → end, sorted     holds  seat → member       mine  member → seat/deadline/guard/claim/admission …
--   taken  seat → change/state/member/order                  owned member → seats of orders that have not ended
-- A hold ends at its deadline or, if later, at its guard, until which an order may run on it. An expired hold counts as none,
-- whether it has been deleted or not. held, holds and mine always name the same seats.
local CELL = 7
local show = redis.call('HMGET', key_show_info, 'version', 'maxSeats', 'holdTtlMs', 'loading')
show = { version = show[1], max_seats = tonumber(show[2] or 0), hold_ttl_ms = tonumber(show[3] or 0), loading = show[4] }

local function cell(state, ends)
    return state == '' and string.rep('\0', CELL) or state .. struct.pack('>I6', ends)
end

local positions = {}

-- Reads the positions of many seats; false for a seat that is not in the plan.
local function know_positions(seats)
    local found = redis.call('HMGET', key_show_plan, unpack(seats))
    for i, seat in ipairs(seats) do
        positions[seat] = found[i]
    end
end

-- Writes a seat's cell: '' free, H held until `ends`, O ordered, S sold; also on the board that is being loaded.
local function show_cell(seat, state, ends)
    if positions[seat] == nil then
        positions[seat] = redis.call('HGET', key_show_plan, seat)
    end
    if positions[seat] then
        redis.call('SETRANGE', key_show_board, positions[seat] * CELL, cell(state, ends))
    end
    local next_position = show.loading and redis.call('HGET', key_show_planNext, seat)
    if next_position then
        redis.call('SETRANGE', key_show_boardNext, next_position * CELL, cell(state, ends))
    end
end

local records = {}

-- The holds of a member, expired ones included.
local function holds_of(member)
    if not records[member] then
        local holds = {}
        for seat, deadline, guard, claim, admission in string.gmatch(redis.call('HGET', key_show_mine, member) or '',
            '([^/ ]+)/(%d+)/(%d+)/([^/ ]*)/([^/ ]*)') do
            holds[#holds + 1] = { seat = seat, deadline = tonumber(deadline), guard = tonumber(guard),
                claim = claim, admission = admission }
        end
        records[member] = holds
    end
    return records[member]
end

local function end_of(hold)
    return math.max(hold.deadline, hold.guard)
end

local function write_holds(member)
    local holds = holds_of(member)
    table.sort(holds, function(a, b)
        return a.deadline < b.deadline or (a.deadline == b.deadline and a.seat < b.seat)
    end)
    local texts = {}
    for i, hold in ipairs(holds) do
        texts[i] = string.format('%s/%.0f/%.0f/%s/%s', hold.seat, hold.deadline, hold.guard, hold.claim, hold.admission)
    end
    if #texts == 0 then
        redis.call('HDEL', key_show_mine, member)
    else
        redis.call('HSET', key_show_mine, member, table.concat(texts, ' '))
    end
end

-- The caller must write_holds(member) afterwards.
local function drop_hold(member, seat)
    local holds = holds_of(member)
    for i = #holds, 1, -1 do
        if holds[i].seat == seat then
            table.remove(holds, i)
        end
    end
    redis.call('ZREM', key_show_held, seat)
    redis.call('HDEL', key_show_holds, seat)
end

-- Updates board and `held` for holds that were changed.
local function note_holds(holds)
    local ends = {}
    for _, hold in ipairs(holds) do
        ends[#ends + 1] = end_of(hold)
        ends[#ends + 1] = hold.seat
        show_cell(hold.seat, 'H', end_of(hold))
    end
    if #ends > 0 then
        redis.call('ZADD', key_show_held, unpack(ends))
    end
end

-- Deletes up to 20 expired holds, so that those of seats never requested again do not stay.
local function collect_ended()
    for _, seat in ipairs(redis.call('ZRANGEBYSCORE', key_show_held, '-inf', now, 'LIMIT', 0, 20)) do
        local member = redis.call('HGET', key_show_holds, seat)
        if member then
            drop_hold(member, seat)
            write_holds(member)
        else
            redis.call('ZREM', key_show_held, seat)
        end
        show_cell(seat, '', 0)
    end
end

local function taken_of(record)
    local change, state, member, order = string.match(record or '', '^(%d+)/(%u)/([^/]*)/([^/]*)$')
    return change and { change = tonumber(change), state = state, member = member, order = order }
end
