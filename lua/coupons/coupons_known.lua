#!lua flags=no-writes
-- coupons_known: what Redis knows of a queue's coupon events, for reconcile to compare.
--@keys settings state coupons couponOwners
--@args most
-- Returns {OK, change number of the finding, event, record ('' for one that only has owners), number of owners, event, …},
-- at most `most` events, or NOT_FOUND.
-- Safe because it only reads. Events with owners but no record are found by skipping from the end of one event's owners to
-- the first owner of the next.
--@include queue
--@include coupon_owners

local most = tonumber(arg_most)
local found = { 'OK', tonumber(redis.call('HGET', key_coupons, ':change') or 0) }
local listed, count = {}, 0
local function add(event, record)
    if count < most then
        count = count + 1
        listed[event] = true
        found[#found + 1] = event
        found[#found + 1] = record
        found[#found + 1] = issued_of(event)
    end
end

if redis.call('HLEN', key_coupons) <= most + 1 then
    local records = redis.call('HGETALL', key_coupons)
    for i = 1, #records, 2 do
        if records[i] ~= ':change' then
            add(records[i], records[i + 1])
        end
    end
end
local from = '-'
for _ = 1, most do
    local first = redis.call('ZRANGEBYLEX', key_couponOwners, from, '+', 'LIMIT', 0, 1)[1]
    if not first then
        break
    end
    local event = string.match(first, '^([^/]*)/')
    if event and not listed[event] then
        add(event, '')
    end
    from = event and '(' .. event .. '0' or '(' .. first
end
return found
