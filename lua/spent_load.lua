#!lua
-- spent_load: before a queue that lost its memory comes back: the numbers whose owners have spent an
-- admission of this epoch, so that none of them is seated again.
--@keys settings seated
--@args
-- then numbers.
-- Returns {LOADED}, or {PRESENT} where the queue is there already.
-- Safe because it acts only while the queue is not there: nobody can have been seated yet.
if redis.call('EXISTS', key_settings) == 1 then
    return { 'PRESENT' }
end
for _, seq in ipairs(ARGV) do
    redis.call('SETBIT', key_seated, seq, 1)
end
return { 'LOADED' }
