-- visit: how long a visit through the gate lasts, and how often its pass is renewed.
-- Needs include queue.
-- A place lives as long as the visit: it ends entryTtlSeconds after the last request. Most requests do not reach Redis: a pass
-- is accepted unchecked for renew_ms. The place lasts that much longer, so it never ends earlier than promised.
local ttl_ms = tonumber(redis.call('HGET', key_settings, 'entryTtlSeconds')) * 1000
local renew_ms = math.min(math.max(math.floor(ttl_ms / 20), 200), 15000)

local function visit_end()
    return virtual_now + ttl_ms + renew_ms
end
