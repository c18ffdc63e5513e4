-- queue: the queue's settings, clock and state; returns NOT_FOUND for a queue that does not exist.
-- Needs KEYS settings, state. Defines what includes settings, queue_state and virtual_clock do, and run: fields of `state` as
-- they were when the script began (those of a draw: include draw).
--@include settings
local run
do
    local incarnation, seq, rate, sold_out, due, frozen_ms, frozen_since, bucket_at, away_ms = unpack(redis.call(
        'HMGET', key_state, 'incarnation', 'seq', 'rateEma', 'soldOut', 'soldOutDue', 'frozenMs', 'frozenSince',
        'bucketAt', 'awayMs'))
    run = {
        incarnation = incarnation or nil, seq = seq or nil, rateEma = rate or nil, soldOut = sold_out or nil,
        soldOutDue = due or nil, frozenMs = frozen_ms or nil, frozenSince = frozen_since or nil,
        bucketAt = bucket_at or nil, awayMs = away_ms or nil,
    }
end
--@include queue_state
--@include virtual_clock
