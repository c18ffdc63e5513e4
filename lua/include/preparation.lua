-- preparation: the progress of a recovery, page by page of spent numbers. Needs KEYS state, seated and ARGS incarnation,
-- epoch, after, then the page's numbers.
-- preparedFor and preparedEpoch are what is prepared; every spent number up to preparedTo is marked, 'all' after the last
-- page, which is empty. Several callers may share a preparation: each page either continues what is marked already or is refused.
-- PostgreSQL only raises incarnations, and raises one before each preparation.

-- Whether this page belongs to the latest preparation and leaves no gap before it. The first page of a later one begins it,
-- where `is_new_line` with an empty bitmap. False for a page of an earlier one, and where Redis has lost the pages before.
local function continues_preparation(is_new_line)
    local published, incarnation, epoch, to = unpack(redis.call('HMGET', key_state, 'incarnation', 'preparedFor',
        'preparedEpoch', 'preparedTo'))
    local after, later = tonumber(arg_after), tonumber(arg_incarnation) - tonumber(incarnation or 0)
    if later == 0 then
        -- Without an epoch a host of an earlier release prepares it: what it has marked stays.
        later = tonumber(arg_epoch) - tonumber(epoch or arg_epoch)
    end
    if tonumber(arg_incarnation) < tonumber(published or 0) or later < 0 then
        return false
    elseif later > 0 then
        to = '0'
    end
    if to ~= 'all' and after > tonumber(to or 0) then
        return false
    end
    if later > 0 and is_new_line then
        redis.call('UNLINK', key_seated)
    end
    local PAGE = 4
    if not ARGV[PAGE] then
        to = 'all'
    elseif to ~= 'all' then
        to = string.format('%.0f', math.max(tonumber(to or 0), tonumber(ARGV[#ARGV])))
    end
    redis.call('HSET', key_state, 'preparedFor', arg_incarnation, 'preparedEpoch', arg_epoch, 'preparedTo', to)
    return true
end
