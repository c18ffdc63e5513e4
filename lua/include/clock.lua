-- clock: the part of include queue that orders need: settings, incarnation and the virtual clock.
-- Needs KEYS settings, state.
--@include settings
local run
do
    local incarnation, frozen_ms, frozen_since, bucket_at = unpack(redis.call('HMGET', key_state, 'incarnation',
        'frozenMs', 'frozenSince', 'bucketAt'))
    run = {
        incarnation = incarnation or nil, frozenMs = frozen_ms or nil, frozenSince = frozen_since or nil,
        bucketAt = bucket_at or nil,
    }
end
--@include virtual_clock
