-- Stores the draw of a queue's epoch.
-- Params: $1 queue, $2 epoch, $3 list hash, $4 ranges, $5 seed.
-- Returns: 1 row: true, or false where a draw was stored before or the epoch has ended.
-- Called by: lib/database/queues/lottery_store.c.
SELECT lottery_put_down($1, $2, $3, $4, $5)
