-- entrants: the list of members who take part in the draw. Needs KEYS state, entrants and includes queue, draw.
-- A hash chain over the list is updated with every entry, so that it is ready when the list closes: the draw depends on it,
-- so a changed list changes the draw.
local function list_entrant(member, seq)
    local line = string.format('%.0f %s', seq, member)
    local before = redis.call('HGET', key_state, 'drawList') or ''
    redis.call('RPUSH', key_entrants, line)
    redis.call('HSET', key_state, 'drawList', redis.sha1hex(before .. ' ' .. line),
        'drawFirst', math.min(seq, tonumber(run.drawFirst or seq)),
        'drawLast', math.max(seq, tonumber(run.drawLast or seq)))
end

-- True while new members take part in the draw: it is to be held, and its list is open.
local function draw_is_open()
    local opens = tonumber(conf.opensAt)
    return conf.mode == 'lottery' and not the_draw() and run.drawClosed ~= '1' and opens ~= nil and now < opens
end
