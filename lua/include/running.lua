-- running: whether an order runs on a hold. Needs KEYS places and includes queue, places, seats.

-- Guarded by a claim that may still become an order, or has become one that is not published yet. A place of the same
-- admission with another claim or none shows that this claim was released.
local function is_running(hold, place)
    if hold.claim == '' or hold.guard <= now then
        return false
    end
    return not (place and place.admission == hold.admission and place.claim ~= hold.claim)
end
