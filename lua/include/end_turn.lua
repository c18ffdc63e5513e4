-- end_turn: records the numbers whose turn is over. Needs KEYS seated.

-- Ends the turn of a number: after a loss of Redis's memory no old ticket restores it. Returns false where it was ended
-- already. One bit a number: a million turns cost 125 KB. A bitmap has at most 2^32 bits: numbers that far apart share one.
local function end_turn(seq)
    return redis.call('SETBIT', key_seated, seq % 4294967296, 1) == 0
end
