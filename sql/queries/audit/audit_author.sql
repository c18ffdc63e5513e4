-- Sets the author that triggers write to the audit log, for the session.
-- Params: $1 actor text, $2 request id text.
-- Returns: one row.
-- Called by: lib/database/audit/audit_store.c, before a product is changed over the same connection
SELECT set_config('sluice.actor', $1, false), set_config('sluice.request_id', $2, false);
