#!lua flags=no-writes
-- pool_life: the order pool's last sign of life, and how long it was silent in all outages that ended.
--@global order-pool
-- Returns {OK, ms since 1970 of the last sign (-1 for never), ms of silence}.
-- Safe because it only reads. Both are absolute, so they may be looked at late without growing younger.
local life = redis.call('HMGET', key_order_pool, 'seen', 'silentMs')
return { 'OK', tonumber(life[1] or -1), tonumber(life[2] or 0) }
