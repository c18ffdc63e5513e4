-- places: reads and writes the record of a member's place. Needs KEYS places.
-- A record is seq/generation/admission/token/claim/keyHash/remainingMs; claim is empty while READY. An unreadable record
-- counts as none; drift deletes it.

local function read_record(record)
    local find, sub = string.find, string.sub
    local a = find(record, '/', 1, true)
    local b = a and find(record, '/', a + 1, true)
    local c = b and find(record, '/', b + 1, true)
    local d = c and find(record, '/', c + 1, true)
    local e = d and find(record, '/', d + 1, true)
    local f = e and find(record, '/', e + 1, true)
    local seq, generation = f and tonumber(sub(record, 1, a - 1)), f and tonumber(sub(record, a + 1, b - 1))
    local remaining = f and tonumber(sub(record, f + 1))
    if not (seq and generation and remaining) then
        return nil
    end
    return {
        seq = seq,
        generation = generation,
        admission = sub(record, b + 1, c - 1),
        token = sub(record, c + 1, d - 1),
        claim = sub(record, d + 1, e - 1),
        key_hash = sub(record, e + 1, f - 1),
        remaining = remaining,
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
