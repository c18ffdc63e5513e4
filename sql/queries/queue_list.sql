-- Params: $1 deleted ones too boolean.
-- Returns: a row a queue in order of ids: '' in place of an outcome, then the queue_record.
-- Called by: lib/orders/queue_store.c
SELECT '', found.*
FROM queue_record AS found
WHERE $1::boolean OR NOT found.deleted
ORDER BY found.id;
