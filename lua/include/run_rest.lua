-- run_rest: the other fields of run, after include run_front.
do
    local seq, frozen_ms, frozen_since, bucket_at, away_ms, draw_first = unpack(redis.call('HMGET', key_state, 'seq',
        'frozenMs', 'frozenSince', 'bucketAt', 'awayMs', 'drawFirst'))
    run.seq, run.frozenMs, run.frozenSince = seq or nil, frozen_ms or nil, frozen_since or nil
    run.bucketAt, run.awayMs, run.drawFirst = bucket_at or nil, away_ms or nil, draw_first or nil
end
