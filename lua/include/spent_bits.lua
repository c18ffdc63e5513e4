-- spent_bits: the two bits of a number in `seatedNext` while a recovery that keeps the line is prepared: whether it is spent,
-- and whether `consumed` counts it already. Numbers that are 2^31 apart share them.
local function bits_of(seq)
    local spent = 2 * seq % 4294967296
    return spent, spent + 1
end
