-- places: reads and writes the record of a member's place, and says where a member stands.
-- Needs KEYS places, ready, pickup, waiting, away (those that the functions called touch).
-- A record is seq/generation/admission/token/claim/keyHash/remainingMs; claim is empty while READY. One
-- that cannot be read counts as none; drift takes it away.

local function read_record(record)
    local seq, generation, admission, token, claim, key_hash, remaining =
        string.match(record, '^(%d+)/(%d+)/([^/]*)/([^/]*)/([^/]*)/([^/]*)/(%-?%d+)$')
    if not seq then
        return nil
    end
    return {
        seq = tonumber(seq),
        generation = tonumber(generation),
        admission = admission,
        token = token,
        claim = claim,
        key_hash = key_hash,
        remaining = tonumber(remaining),
    }
end

local function place_of(member)
    local record = redis.call('HGET', key_places, member)
    return record and read_record(record) or nil
end

local function place_record(place)
    return string.format('%.0f/%.0f/%s/%s/%s/%s/%.0f', place.seq, place.generation, place.admission,
        place.token, place.claim, place.key_hash, place.remaining)
end
