#!lua
-- release_seats: as release, for an order of seats: restores their holds.
--@keys settings state places ready claimed show:info show:plan show:planNext show:board show:boardNext show:held show:holds show:mine orderLoad
--@args member admission claim load
-- Returns what release returns.
-- Safe because it names the claim: the guard of another claim is never touched. The guard is removed even where the claim
-- does not hold the token any more: the caller knows that this order has rolled back.
--@include queue
--@include places
--@include give_token_back
--@include seats
--@include order_load

note_load()
local changed = {}
for _, hold in ipairs(holds_of(arg_member)) do
    if hold.claim == arg_claim then
        hold.guard, hold.claim, hold.admission = 0, '', ''
        changed[#changed + 1] = hold
    end
end
if #changed > 0 then
    note_holds(changed)
    write_holds(arg_member)
end
return give_token_back()
