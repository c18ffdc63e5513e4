-- main_line: the fast path of position and enter: the main line while the other lanes are empty. It decides exactly as the
-- general path, to which all other cases fall through.
-- Needs KEYS waiting, priority, draw, drawn, ARGS member, seq, generation, epoch, incarnation and includes settings,
-- run_front, queue_state.

-- Number and generation of a member in the main line, else nil.
local function stands_in_main_line()
    local score = redis.call('ZSCORE', key_waiting, arg_member)
    if not score then
        return nil
    end
    local generation = score % 4096
    return (score - generation) / 4096, generation
end

-- The other lanes are empty, the first tick has run, and the ticket, if any, is not from before a loss.
local function is_ordinary()
    return run.rateEma and (arg_seq == '' or arg_epoch ~= conf.epoch or arg_incarnation == run.incarnation)
        and redis.call('EXISTS', key_priority, key_draw, key_drawn) == 0
end

local function is_of_ticket(seq, generation)
    return arg_epoch == conf.epoch and seq == tonumber(arg_seq) and generation == tonumber(arg_generation)
end

local function observed_rate_milli()
    return math.floor(tonumber(run.rateEma) * 1000)
end

local function main_line_answer(code, rank, waiting, seq, generation)
    return { code, queue_state(), 'WAITING', rank, waiting, '', 0, 0, observed_rate_milli(), seq, generation,
        tonumber(conf.epoch), tonumber(run.incarnation), now, conf.activation, conf.pollTiers or '', 'main',
        0 }
end
