#!lua flags=no-writes
-- coupon_standing: how many coupons an event has, and how many are issued.
--@keys settings state coupons couponOwners
--@args event
-- Returns {OK, total, issued, PostgreSQL has found none left 0|1}, or NOT_FOUND for a queue or an event that Redis does
-- not know: the caller then queries PostgreSQL.
-- Safe because it only reads.
--@include queue
--@include coupons
--@include coupon_owners

local event = coupon_event(arg_event)
if not event then
    return { 'NOT_FOUND', 'event' }
end
return { 'OK', event.total, issued_of(arg_event), event.gone and 1 or 0 }
