#!lua flags=no-writes
-- pool_life: the order pool's last heartbeat, and the total of its outages that have ended.
--@global order-pool
-- Returns {OK, ms since 1970 of the last heartbeat (-1 for never), ms of outages in total}.
-- Safe because it only reads. Both are absolute, so a delayed reader computes no shorter silence from them.
local life = redis.call('HMGET', key_order_pool, 'seen', 'silentMs')
return { 'OK', tonumber(life[1] or -1), tonumber(life[2] or 0) }
