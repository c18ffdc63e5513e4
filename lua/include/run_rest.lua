-- run_rest: the rest of run, behind include run_front.
do
    local seq, frozen_ms, frozen_since, bucket_at, away_ms = unpack(redis.call('HMGET', key_state, 'seq', 'frozenMs',
        'frozenSince', 'bucketAt', 'awayMs'))
    run.seq, run.frozenMs, run.frozenSince = seq or nil, frozen_ms or nil, frozen_since or nil
    run.bucketAt, run.awayMs = bucket_at or nil, away_ms or nil
end
