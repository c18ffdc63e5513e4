-- Stores the highest number given out, so that a recovery starts above it.
-- Params: $1 queue, $2 number.
-- Returns: 0 rows.
-- Called by: lib/database/queues/checkpoint_store.c.
UPDATE queue
   SET seq_checkpoint = $2::bigint
 WHERE id = $1 AND seq_checkpoint < $2::bigint
