#!lua flags=no-writes
-- lottery: the public facts of the draw.
--@keys settings state entrants
--@args
-- Returns {OK, OPEN | CLOSED | DRAWN, commitment, entrants on the list, opensAt ('' none), epoch, draw ('' before
-- it is held), secret ('' before the draw), now}, or NOT_FOUND also for a queue that never was a lottery.
-- Safe because it only reads, and returns the secret only once the draw made with it is published.
--@include queue

local more = hash_fields(key_settings, 'lotteryCommitment', 'lotterySecret')
local draw = conf.lotteryDraw or ''
if (more.lotteryCommitment or '') == '' then
    return { 'NOT_FOUND', 'no lottery' }
end
local phase = draw ~= '' and 'DRAWN' or run.drawClosed == '1' and 'CLOSED' or 'OPEN'
return { 'OK', phase, more.lotteryCommitment, redis.call('LLEN', key_entrants), conf.opensAt or '',
    tonumber(conf.epoch), draw, draw ~= '' and more.lotterySecret or '', now }
