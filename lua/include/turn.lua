-- turn: remembers whose turn is over. Needs KEYS seated.

-- The turn of this number is over: after a loss of Redis's memory no old ticket seats it again. One bit
-- a number, so that a million turns cost 125 KB. A bitmap ends at 2^32: numbers so far apart share a bit.
local function turn_is_over(seq)
    return redis.call('SETBIT', key_seated, seq % 4294967296, 1) == 0
end
