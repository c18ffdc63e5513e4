#!lua
-- autopilot_note: records the leader's decision after autopilot_look: latencies, and the rate in force.
--@keys settings state leader autopilot moves
--@args owner version turn memory rate p50 p95 p99 originP95 figures move
-- version, turn: as autopilot_look returned them; rate: '' leaves the settings' rate in force; p50 … originP95: ms, ''
-- unknown; figures: the input of this decision, as JSON; move: the change and its reason, as JSON, '' for none.
-- Returns {NOTED}, {NOT_LEADER}, {OLDER} where the settings' version or the turn has changed since, or NOT_FOUND.
-- Safe because leader, version and turn are compared in the step that writes, and the turn is raised: of a paused scheduler
-- and its successor only one moves the rate. Promotion clamps the rate to floor and ceiling whatever is recorded here.
--@include queue

if redis.call('GET', key_leader) ~= arg_owner then
    return { 'NOT_LEADER' }
elseif tonumber(redis.call('HGET', key_settings, 'version') or 0) ~= tonumber(arg_version)
    or tonumber(redis.call('HGET', key_autopilot, 'turn') or 0) ~= tonumber(arg_turn) then
    return { 'OLDER' }
end
local MOVES_KEPT = 200
redis.call('HSET', key_autopilot, 'turn', arg_turn + 1, 'memory', arg_memory, 'figures', arg_figures)
for name, value in pairs({ rateInForce = arg_rate, orderP50 = arg_p50, orderP95 = arg_p95, orderP99 = arg_p99,
    originP95 = arg_originP95 }) do
    if value == '' then
        redis.call('HDEL', key_state, name)
    else
        redis.call('HSET', key_state, name, value)
    end
end
if arg_move ~= '' then
    redis.call('RPUSH', key_moves, arg_move)
    redis.call('LTRIM', key_moves, -MOVES_KEPT, -1)
end
return { 'NOTED' }
