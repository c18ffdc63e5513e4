-- visit: how long a visit through the gate lasts, and how often its pass is renewed.
-- Needs include queue.
-- A place in the active set lives as long as the visit: it ends entryTtlSeconds after the last request.
-- Most requests do not come here: a pass counts unasked for renew_ms. So the place is given that much
-- more, and never ends earlier than promised.
local ttl_ms = tonumber(redis.call('HGET', key_settings, 'entryTtlSeconds')) * 1000
local renew_ms = math.min(math.max(math.floor(ttl_ms / 20), 200), 15000)

local function visit_end()
    return virtual_now + ttl_ms + renew_ms
end
