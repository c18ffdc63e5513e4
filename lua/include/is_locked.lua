-- is_locked: whether queue_lock has locked the queue: it was empty, and is about to be deleted or to change its mode.
-- Entrants are told to retry until the change is published. Needs include settings.
local function is_locked()
    return conf.maxWaiting == '-1'
end
