-- token: whether a member's entry token may be used now. Needs KEYS places, ready and includes clock, places.

-- The member's place and its virtual deadline; nil and the refusal where the token is not that place's, has expired, or is
-- claimed by an order.
local function usable_place(member, admission)
    local place = place_of(member)
    if not place or place.admission ~= admission then
        return nil, 'ENTRY_TOKEN_INVALID'
    elseif place.claim ~= '' then
        return nil, 'ORDER_IN_PROGRESS'
    end
    local deadline = tonumber(redis.call('ZSCORE', key_ready, member) or 0)
    if deadline == 0 or not is_alive(deadline) then
        return nil, 'ENTRY_TOKEN_INVALID'
    end
    return place, deadline
end
