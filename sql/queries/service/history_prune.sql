-- Deletes history older than $1 days, at most $2 rows a call.
-- Params: $1 days bigint, $2 limit bigint.
-- Returns: nothing.
-- Called by: lib/database/service/history_store.c
DELETE FROM queue_history
 WHERE ctid = ANY (ARRAY(SELECT h.ctid FROM queue_history h
                          WHERE h.minute < now() - make_interval(days => $1::integer) LIMIT $2::bigint));
