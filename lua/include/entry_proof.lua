-- entry_proof: whether a new place lacks its proof of work, where one is required. Each proof counts once. Needs KEYS proofs,
-- ARGS proof, include settings.
-- A proof is remembered for longer than it is valid. If Redis loses it, only the caller that it was made for can use it
-- again.
local PROOF_MEMORY_MS, FORGOTTEN_AT_ONCE = 360000, 4

local function proof_is_missing()
    if conf.entryCaptcha ~= 'altcha' then
        return false
    elseif arg_proof == '' then
        return true
    end
    local old = redis.call('ZRANGE', key_proofs, '-inf', now, 'BYSCORE', 'LIMIT', 0, FORGOTTEN_AT_ONCE)
    if #old > 0 then
        redis.call('ZREM', key_proofs, unpack(old))
    end
    local is_new = redis.call('ZADD', key_proofs, 'NX', now + PROOF_MEMORY_MS, arg_proof) == 1
    redis.call('PEXPIRE', key_proofs, PROOF_MEMORY_MS)
    return not is_new
end
