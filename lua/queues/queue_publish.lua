#!lua
-- queue_publish: applies a queue's settings from PostgreSQL, and with them pause, reset and recovery.
--@keys settings state waiting away awayUntil places ready pickup claimed unpaid departures tombstones tombstoneUntil seated seatedNext series arrivals ended watched priority draw drawn drawGone drawLeft entrants laneNumbers codes codeUsers codeUses coupons couponOwners promises orderLoad autopilot moves marks proofs
--@args intent version epoch incarnation seqFloor recoveryMs knows announced
-- then field, value, field, value, … of the settings hash (version, epoch and incarnation among them). seqFloor: numbers up
-- to it are never given out; recoveryMs: how long a recovered queue waits before it promotes; knows: how many settings the
-- publisher's release has. Settings that only a later release has stay as they are, and a later release may publish
-- the same version again to add its own, except while queue_lock has locked the queue on it.
-- intent: create (a new queue, or a deletion; where Redis does not have the queue, only if the field `announced` of `state`
-- is the argument of that name, a name of this publication alone, and not empty); change (only where the line exists);
-- recover (only where spent_load or spent_settle has prepared this incarnation and epoch to the end, for a new line or for
-- the one that is there).
-- Returns {PUBLISHED}, {OLDER}, or NOT_FOUND where the intent does not fit: Redis has lost its memory, and only recovery may
-- recreate the line.
-- Safe because a version that is not newer changes nothing, and a new epoch empties the line in the step that sets it: no
-- ticket of the old epoch is ever looked up in the new line. A publisher announces itself, then compares PostgreSQL, and
-- then publishes: where Redis has lost the queue since that comparison, it has lost the announcement too. A version that is
-- not newer only removes its own announcement.
local FIRST_FIELD = 9
local known, deleted, before, publisher_knew, most_known, locked = unpack(redis.call('HMGET', key_settings, 'version', 'deleted',
    'operatorState', 'publisherKnew', 'mostKnown', 'lockedVersion'))
local knows, most = tonumber(arg_knows), tonumber(most_known or 0)
local says_more = arg_intent == 'change' and known == arg_version and tonumber(publisher_knew or 0) < knows and locked ~= known
local state = redis.call('HMGET', key_state, 'incarnation', 'epoch', 'seq', 'preparedFor',
    'preparedEpoch', 'preparedTo', 'preparedLine', 'announced')
local is_reset = state[2] and state[2] ~= arg_epoch
local line = (not known or deleted == '1' or is_reset) and 'new' or 'kept'
local in_line = known and (deleted == '1' or state[1] == arg_incarnation)
local is_prepared = state[4] == arg_incarnation and state[5] == arg_epoch and state[6] == 'all' and state[7] == line
if known and tonumber(known) >= tonumber(arg_version) and not says_more then
    if arg_announced ~= '' and state[8] == arg_announced then
        redis.call('HDEL', key_state, 'announced')
    end
    return { 'OLDER' }
end
local is_announced = known or (arg_announced ~= '' and state[8] == arg_announced)
if (arg_intent == 'create' and not is_announced) or (arg_intent == 'change' and not in_line)
    or (arg_intent == 'recover' and not is_prepared) then
    return { 'NOT_FOUND', 'unknown' }
end
if arg_intent == 'recover' and line == 'new' then
    -- Before any other write: a bitmap that is missing is an error, and changes nothing.
    redis.call('RENAME', key_seatedNext, key_seated)
elseif arg_intent == 'recover' then
    redis.call('UNLINK', key_seatedNext)
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local fields = {}
for i = FIRST_FIELD, #ARGV do
    fields[#fields + 1] = ARGV[i]
end
local function rates()
    local found = redis.call('HMGET', key_settings, 'ratePerSecond', 'rateFloor', 'rateCeiling')
    return string.format('%s %s %s', found[1] or '', found[2] or '', found[3] or '')
end
local rates_before = rates()
if deleted == '1' or knows >= most then
    redis.call('DEL', key_settings)
    most = knows
end
redis.call('HSET', key_settings, 'publisherKnew', knows, 'mostKnown', most, unpack(fields))
--@include conf_fields
redis.call('HSET', key_settings, 'packed',
    cmsgpack.pack(unpack(redis.call('HMGET', key_settings, unpack(CONF_FIELDS)))))
-- A rate set by an operator takes effect at once; the autopilot restarts from it.
if rates() ~= rates_before or state[2] ~= arg_epoch then
    redis.call('HDEL', key_state, 'rateInForce')
end

-- A reset keeps what belongs to orders: tombstones answer repeats, unpaid orders keep their places.
local function empty_the_line()
    redis.call('UNLINK', key_waiting, key_away, key_awayUntil, key_places, key_ready, key_pickup, key_claimed,
        key_departures, key_series, key_arrivals, key_ended, key_watched, key_priority, key_draw, key_drawn, key_drawGone,
        key_drawLeft, key_entrants, key_laneNumbers, key_promises, key_marks, key_proofs)
end

if redis.call('HGET', key_settings, 'deleted') == '1' then
    empty_the_line()
    redis.call('UNLINK', key_seated, key_seatedNext, key_state, key_unpaid, key_tombstones, key_tombstoneUntil, key_codes,
        key_codeUsers, key_codeUses, key_coupons, key_couponOwners, key_orderLoad, key_autopilot, key_moves)
    return { 'PUBLISHED' }
end
if (is_reset or not state[1]) and arg_intent ~= 'recover' then
    -- What they hold is of an earlier line, or of a recovery that this publication overtakes: that one begins again.
    redis.call('UNLINK', key_seated, key_seatedNext)
    redis.call('HDEL', key_state, 'preparedFor', 'preparedEpoch', 'preparedLine', 'preparedTo', 'announced')
end
if is_reset then
    empty_the_line()
    redis.call('HSET', key_state, 'epoch', arg_epoch, 'seq', 0, 'prunedTo', 0, 'countedFrom', 1, 'mainFront', 0)
    -- The totals continue, for graphs; a result counts from here.
    for _, name in ipairs({ 'entered', 'admitted', 'consumed', 'left', 'expired' }) do
        redis.call('HSET', key_state, name .. 'Before', redis.call('HGET', key_state, name) or 0)
    end
    redis.call('HDEL', key_state, 'lastServedSeq', 'firstAdmittedAt', 'lastAdmittedAt', 'lastWaitMs',
        'longestWaitMs', 'soldOutAt', 'priorityCarry', 'drawList', 'drawFirst', 'drawLast', 'drawClosed', 'drawRanges',
        'drawCursor')
    state[3] = 0
end
if not state[1] or state[1] ~= arg_incarnation then
    -- New, recovered, or deleted before. Except for a new queue the bucket starts empty, so that the rate holds.
    redis.call('HSET', key_state, 'incarnation', arg_incarnation, 'epoch', arg_epoch, 'bucketAt', now,
        'bucket', arg_incarnation == '1' and arg_epoch == '1' and redis.call('HGET', key_settings, 'burst') or '0',
        'seq', math.max(tonumber(state[3] or 0), tonumber(arg_seqFloor)),
        'countedFrom', math.max(tonumber(state[3] or 0), tonumber(arg_seqFloor)) + 1,
        'recoveringUntil', tonumber(arg_recoveryMs) > 0 and now + tonumber(arg_recoveryMs) or 0)
end
local drawn = redis.call('HGET', key_settings, 'lotteryDraw') or ''
if arg_intent == 'recover' and drawn ~= '' and (not known or is_reset) then
    -- The draw stands: a member who returns gets the place drawn directly, as after a draw that is walked to its end.
    local count = 0
    for from, to in string.gmatch(string.match(drawn, '%S+$'), '(%d+)%-(%d+)') do
        count = count + to - from + 1
    end
    redis.call('HSET', key_state, 'drawClosed', 1, 'drawCursor', count)
end
-- One value of more than 64 bytes makes Redis store the hash as a hash table, not as a listpack that each lookup scans.
redis.call('HSET', key_state, 'about', 'What is true of the queue as a whole, each under the name that the scripts use.')
if before ~= 'SOLD_OUT' and redis.call('HGET', key_settings, 'operatorState') == 'SOLD_OUT' then
    redis.call('HSET', key_state, 'soldOutAt', now)
end
return { 'PUBLISHED' }
