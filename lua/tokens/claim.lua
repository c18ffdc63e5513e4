#!lua
-- claim: an order (or a coupon) claims an entry token for the duration of its transaction.
--@keys settings state places ready pickup claimed tombstones coupons couponOwners orderLoad
--@args member admission claim keyHash leastLeaseMs event
-- admission: SHA-256 of the token presented; keyHash: SHA-256 of the idempotency key, '' without one; leastLeaseMs: the
-- lease is at least this long (a transaction and its retry), whatever claimLeaseSeconds is; event: the coupon event, ''
-- for an order.
-- Returns {CLAIMED, lease ms, seq, epoch, incarnation, releaseOn}, {REPLAY, order id} for a token spent by the same member
-- under the same key, or ORDER_IN_PROGRESS, ORDER_CAPACITY, ENTRY_TOKEN_INVALID, NOT_FOUND. For an event that Redis knows,
-- CLAIMED is followed by the numbers of coupons and of those issued; {SOLD_OUT, total} and {ALREADY} (the member has one)
-- leave the token as it is.
-- Safe because checking the token, counting the claims in flight and claiming are one step. The token's lifetime stops while
-- it is CLAIMED: the remainder is kept in the record. SOLD_OUT needs both PostgreSQL's finding and every owner known to
-- Redis: otherwise a member whose coupon is not published yet could get SOLD_OUT instead of ALREADY.
--@include clock
--@include places
--@include token
--@include take_token
--@include coupons
--@include coupon_owners

local total, issued

-- The answers about a coupon that need no claim.
local function settled()
    local event = arg_event ~= '' and coupon_event(arg_event)
    if not event then
        return nil
    end
    total, issued = event.total, issued_of(arg_event)
    if redis.call('ZSCORE', key_couponOwners, owner_name(arg_event, arg_member)) then
        return { 'ALREADY' }
    elseif event.gone and issued == total and now >= event.opens and (event.ends == 0 or now < event.ends) then
        return { 'SOLD_OUT', total }
    end
    return nil
end

local answer = take_token(settled)
if answer[1] == 'CLAIMED' then
    answer[7], answer[8] = total, issued
end
return answer
