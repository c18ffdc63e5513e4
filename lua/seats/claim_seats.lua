#!lua
-- claim_seats: as claim, for an order of seats that the member holds.
--@keys settings state places ready pickup claimed tombstones show:info show:plan show:planNext show:board show:boardNext show:held show:holds show:mine orderLoad
--@args member admission claim keyHash leastLeaseMs marginMs
-- then the seats, each once. marginMs: how long after the lease the seats stay guarded against other members.
-- Returns what claim returns for an order, or {SEAT_NOT_HELD, seat, …}; NOT_FOUND also for a show that is not loaded.
-- Safe because the holds are checked and guarded in the step that claims the token. A hold keeps its own deadline
-- beside the guard, so release_seats restores it.
--@include queue
--@include places
--@include token
--@include take_token
--@include seats
--@include running

local FIRST = 7
if not show.version then
    return { 'NOT_FOUND', 'show' }
end
return take_token(nil, function(lease)
    local wanted = { unpack(ARGV, FIRST) }
    know_positions(wanted)
    local place = place_of(arg_member)
    local mine, lacking = {}, { 'SEAT_NOT_HELD' }
    for _, hold in ipairs(holds_of(arg_member)) do
        mine[hold.seat] = hold
    end
    for _, seat in ipairs(wanted) do
        local hold = mine[seat]
        if hold and is_running(hold, place) then
            return { 'ORDER_IN_PROGRESS' }
        elseif not hold or hold.deadline <= now or not positions[seat] then
            lacking[#lacking + 1] = seat
        end
    end
    if #lacking > 1 then
        return lacking
    end
    local guarded = {}
    for i, seat in ipairs(wanted) do
        local hold = mine[seat]
        hold.guard = now + lease + tonumber(arg_marginMs)
        hold.claim, hold.admission = arg_claim, arg_admission
        guarded[i] = hold
    end
    note_holds(guarded)
    write_holds(arg_member)
    return nil
end)
