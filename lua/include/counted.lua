-- counted: from which number on the marks and departures tell what is missing from the main line; up to it the members are
-- counted. Needs KEYS departures.

-- For a line whose numbers up to `seq` were not all given or not all noted. Departures that are noted already belong to a whole
-- range of 1024 numbers, so all of that range is counted: otherwise they would be subtracted twice.
local function counted_after(seq)
    local range = math.floor((seq + 1) / 1024)
    return redis.call('HGET', key_departures, range) and (range + 1) * 1024 or seq + 1
end
