-- entry_proof: may a new place be taken, where each costs a proof of work? Each proof counts once. Needs KEYS proofs, ARGS
-- proof, include settings.
-- One is remembered for longer than it could still be sent. Should Redis forget it, the one caller that it was made for
-- may use it once more.
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
