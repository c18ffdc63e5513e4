-- The last minute of a queue's history.
-- Params: $1 queue text.
-- Returns: 1 row: minutes since 1970, NULL where there is none.
-- Called by: lib/database/service/history_store.c
SELECT (extract(epoch FROM max(h.minute)) / 60)::bigint FROM queue_history h WHERE h.queue = $1;
