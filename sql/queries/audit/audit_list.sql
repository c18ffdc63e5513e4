-- One page of the audit log.
-- Params: $1 rows before this id bigint (NULL: from the newest), $2 target text (NULL: all), $3 limit integer.
-- Returns: id, time in ms since 1970, actor, action, target, request id, details, newest first.
-- Called by: lib/database/audit/audit_store.c
SELECT id, epoch_ms(at), actor, action, target, request_id, details
FROM audit
WHERE ($1::bigint IS NULL OR id < $1) AND ($2::text IS NULL OR target = $2)
ORDER BY id DESC
LIMIT $3::integer;
