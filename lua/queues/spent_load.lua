#!lua
-- spent_load: before a lost queue comes back, marks the numbers whose owners have spent an admission of this epoch, so that
-- no ticket restores them.
--@keys settings state seatedNext
--@args incarnation epoch after
-- then a page of numbers above `after`, ascending; none once all are loaded.
-- Returns {LOADED}, {OLDER, the latest incarnation known} where the preparation has to begin anew (see include preparation),
-- or {PRESENT} where the queue exists already. A deleted queue does not count as existing: its line is gone, and PostgreSQL
-- has created it again. Safe because it writes only while the queue does not exist, when no member can have been restored.
-- It records what it has prepared, and queue_publish recovers only that, and only when complete: a queue lost again
-- meanwhile does not come back without its numbers.
--@include preparation

if redis.call('EXISTS', key_settings) == 1 and redis.call('HGET', key_settings, 'deleted') ~= '1' then
    return { 'PRESENT' }
end
local continues, latest = continues_preparation(true)
if not continues then
    return { 'OLDER', latest }
end
mark_for_new_line()
return { 'LOADED' }
