-- Puts the draw of a queue's epoch down.
-- Params: $1 queue, $2 epoch, $3 list hash, $4 ranges, $5 seed.
-- Returns: 1 row: true, or false where it was put down before or the epoch is over.
-- Called by: lib/orders/lottery_store.c.
SELECT lottery_put_down($1, $2, $3, $4, $5)
