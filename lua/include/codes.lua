-- codes: invite and priority codes. Needs KEYS codes, codeUsers, codeUses, ARGV code (the code's hash, '' none)
-- and include queue.
-- A code's field in `codes` is kind/uses left/end in ms (0: none). `codeUsers` holds code/member of each use, so that a
-- repeat counts nothing; `codeUses` lists the uses that PostgreSQL has not stored yet.
local CODE_LANES = { invite = 'invite', priority = 'priority' }

-- The request's code: nil for none, false for one that is unknown, used up or expired.
local function read_code()
    if arg_code == '' then
        return nil
    end
    local kind, left, ends = string.match(redis.call('HGET', key_codes, arg_code) or '', '^(%a+)/(%d+)/(%d+)$')
    if not CODE_LANES[kind] then
        return false
    end
    local code = { kind = kind, left = tonumber(left), ends = tonumber(ends) }
    code.used = redis.call('HEXISTS', key_codeUsers, arg_code .. '/' .. arg_member) == 1
    if not code.used and (code.left < 1 or (code.ends > 0 and now >= code.ends)) then
        return false
    end
    return code
end

-- Counts a use by arg_member, once a member.
local function use_code(code)
    if code.used then
        return
    end
    redis.call('HSET', key_codes, arg_code, string.format('%s/%.0f/%.0f', code.kind, code.left - 1, code.ends))
    redis.call('HSET', key_codeUsers, arg_code .. '/' .. arg_member, now)
    redis.call('RPUSH', key_codeUses, string.format('%s %.0f %s', arg_code, now, arg_member))
end
