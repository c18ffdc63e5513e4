#!lua flags=no-writes
-- claims_overdue: the claims whose lease has expired, for reconcile to settle.
--@keys settings state places claimed
--@args most
-- Returns {OK, member, admission, claim, keyHash, member, …}, at most `most` claims, or NOT_FOUND.
-- Safe because it only reads: PostgreSQL decides whether such a claim is consumed or released.
--@include queue
--@include places

local found = { 'OK' }
for _, member in ipairs(redis.call('ZRANGEBYSCORE', key_claimed, '-inf', now, 'LIMIT', 0, arg_most)) do
    local place = place_of(member)
    if place then
        for _, part in ipairs({ member, place.admission, place.claim, place.key_hash }) do
            found[#found + 1] = part
        end
    end
end
return found
