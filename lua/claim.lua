#!lua
-- claim: an order (or a coupon) takes hold of an entry token for the length of its transaction.
--@keys settings state places ready pickup claimed tombstones coupons couponOwners orderLoad
--@args member admission claim keyHash leastLeaseMs event
-- admission: SHA-256 of the token presented; keyHash: SHA-256 of the idempotency key, '' without one;
-- leastLeaseMs: a transaction and its repeat may take so long, whatever claimLeaseSeconds says; event: the
-- coupon event that the token is for, '' for an order.
-- Returns {CLAIMED, lease ms, seq, epoch, incarnation, releaseOn}, {REPLAY, order id} for a token spent
-- under the very same key, or ORDER_IN_PROGRESS, ORDER_CAPACITY, ENTRY_TOKEN_INVALID, NOT_FOUND; of an event that
-- Redis knows CLAIMED goes on with how many coupons there are and how many are issued, {SOLD_OUT, total} and
-- {ALREADY} leave the token as it is.
-- Safe because looking at the token, counting those in flight and taking it are one step. The token's
-- clock stops while it is CLAIMED: what is left of its life is kept in the record.
-- Sold out is said only where PostgreSQL has said so and Redis knows every owner: else somebody who has a
-- coupon, and of whom Redis has not heard yet, could be told that there is none.
--@include clock
--@include places
--@include token
--@include take
--@include coupons
--@include coupon_owners

local total, issued

-- What may be said of a coupon without taking the token.
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
