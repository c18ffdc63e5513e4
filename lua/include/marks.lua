-- marks: the numbers that are not in the main line as given, for the hosts' snapshots (lua/snapshot/snapshot.lua).
-- Needs KEYS state, marks.
-- A number above the front without a mark is in the main line, with generation 0. Marks are two bits a number, 256 bytes for
-- a range of 1024, in the field of the range's number. `count` is the number of changes; fields #0, #1, … are a ring of the
-- last MARKS_KEPT of them, as number * 4 + mark. Numbers up to the front need no marks: their members are counted.
local MARK_GONE, MARK_ASK, MARKS_KEPT = 1, 2, 2048

-- MARK_GONE: the number is not in the main line (any more). MARK_ASK: it is, and its generation must be read from Redis.
local function mark_number(seq, mark)
    if seq <= tonumber(redis.call('HGET', key_state, 'mainFront') or 0) then
        return
    end
    local range, at = math.floor(seq / 1024), seq % 1024
    local i, unit = math.floor(at / 4) + 1, 4 ^ (at % 4)
    local marks = redis.call('HGET', key_marks, range) or string.rep('\0', 256)
    local byte = string.byte(marks, i)
    local was = math.floor(byte / unit) % 4
    if was == mark then
        return
    end
    local count = redis.call('HINCRBY', key_marks, 'count', 1)
    redis.call('HSET', key_marks, range,
        string.sub(marks, 1, i - 1) .. string.char(byte + (mark - was) * unit) .. string.sub(marks, i + 1),
        '#' .. count % MARKS_KEPT, string.format('%.0f', seq * 4 + mark))
end
