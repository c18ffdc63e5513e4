-- ticket: the request's queue ticket, nil without one.
-- Needs ARGV seq, generation, epoch, incarnation, lane ('' each without a ticket).
local ticket = nil
if arg_seq ~= '' then
    ticket = {
        seq = tonumber(arg_seq),
        generation = tonumber(arg_generation),
        epoch = arg_epoch,
        incarnation = arg_incarnation,
        lane = arg_lane,
    }
end

local function ticket_is_current(it)
    return ticket ~= nil and ticket.epoch == conf.epoch and it.seq == ticket.seq
        and it.generation == ticket.generation
end

local function ticket_survived_a_loss()
    return ticket ~= nil and ticket.epoch == conf.epoch and ticket.incarnation ~= run.incarnation
end

-- The takeover that issued this ticket was lost by Redis: of the tickets for one number the highest generation counts.
local function ticket_took_over(it)
    return ticket_survived_a_loss() and it.seq == ticket.seq and ticket.generation > it.generation
end
