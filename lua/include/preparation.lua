-- preparation: the progress of a recovery, page by page of spent numbers. Needs KEYS state, seatedNext and ARGS incarnation,
-- epoch, after, then the page's numbers.
-- preparedFor, preparedEpoch and preparedLine ('new' or 'kept') are what is prepared; every spent number up to preparedTo is
-- marked, 'all' once the preparation is complete: after the last page, which is empty. Several callers may share a
-- preparation: each page either continues what is marked already or is refused. PostgreSQL only raises incarnations, and
-- raises one before each preparation.
-- The numbers of a new line are marked in `seatedNext`, which queue_publish renames to `seated` in the step that publishes
-- the line. Scripts of the line before, if it is still there, mark theirs in `seated`, which ends with it. For a line that
-- is kept, `seatedNext` has two bits a number (include spent_places); it stays from one preparation of an epoch to the next.
local FIRST_NUMBER = 4

-- Whether this page belongs to the latest preparation and leaves no gap before it. The first page of a later one begins it.
-- False for a page of an earlier one, and where Redis has lost the pages before; then also the latest incarnation that Redis
-- knows of the queue.
local function continues_preparation(is_new_line)
    local published, incarnation, epoch, kind, to = unpack(redis.call('HMGET', key_state, 'incarnation', 'preparedFor',
        'preparedEpoch', 'preparedLine', 'preparedTo'))
    local line = is_new_line and 'new' or 'kept'
    local after, later = tonumber(arg_after), tonumber(arg_incarnation) - tonumber(incarnation or 0)
    if later == 0 then
        later = tonumber(arg_epoch) - tonumber(epoch or 0)
    end
    local latest = math.max(tonumber(published or 0), tonumber(incarnation or 0))
    if tonumber(arg_incarnation) < tonumber(published or 0) or later < 0 then
        return false, latest
    end
    local begins = later > 0 or kind ~= line
    if begins then
        to = '0'
    end
    if to ~= 'all' and after > tonumber(to) then
        return false, latest
    end
    if begins then
        redis.call('HDEL', key_state, 'preparedPlaces')
        if is_new_line or kind ~= line or epoch ~= arg_epoch then
            redis.call('UNLINK', key_seatedNext)
        end
        if is_new_line then
            -- An empty bitmap, which is there even without spent numbers; numbers begin at 1.
            redis.call('SETBIT', key_seatedNext, 0, 0)
        end
    end
    if ARGV[FIRST_NUMBER] and to ~= 'all' then
        to = string.format('%.0f', math.max(tonumber(to), tonumber(ARGV[#ARGV])))
    end
    redis.call('HSET', key_state, 'preparedFor', arg_incarnation, 'preparedEpoch', arg_epoch, 'preparedLine', line,
        'preparedTo', to)
    return true
end

local function complete_preparation()
    redis.call('HSET', key_state, 'preparedTo', 'all')
end

-- Marks the page's numbers for a new line; the page without any completes it. As in include end_turn, numbers that are 2^32
-- apart share a bit.
local function mark_for_new_line()
    for i = FIRST_NUMBER, #ARGV do
        redis.call('SETBIT', key_seatedNext, tonumber(ARGV[i]) % 4294967296, 1)
    end
    if not ARGV[FIRST_NUMBER] then
        complete_preparation()
    end
end
