-- Adds a row to the audit log.
-- Params: $1 actor text, $2 action text, $3 target text, $4 request id text, $5 details jsonb.
-- Returns: nothing.
-- Called by: lib/database/audit/audit_store.c, before an operator changes a member in Redis
INSERT INTO audit (actor, action, target, request_id, details) VALUES ($1, $2, $3, $4, $5::jsonb);
