-- marks: which numbers of the main line are not as they were given, for the snapshots of the hosts (lua/snapshot.lua).
-- Needs KEYS state, marks.
-- A number above the front that is not marked stands in the main line, under generation 0. Marks are two bits a number, 256
-- bytes for a range of 1024, in the field of the range's number. `count` is how many changes there were; the last
-- MARKS_KEPT of them stand in the fields #0, #1, … in turn, as number * 4 + mark. What lies at the front or
-- before it needs no marks: those who stand there are counted.
local MARK_GONE, MARK_ASK, MARKS_KEPT = 1, 2, 2048

-- MARK_GONE: the number does not stand in the main line (any more). MARK_ASK: it stands there, and only Redis can tell how.
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
