-- lock: whether queue_lock has locked the queue: it was empty, and is about to be deleted or to change its mode. Whoever would
-- get a place in it comes back when it is gone or open again. Needs include settings.
local function is_locked()
    return conf.maxWaiting == '-1'
end
