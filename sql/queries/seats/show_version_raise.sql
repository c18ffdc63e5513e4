-- Raises the version of a show above the one that Redis has, where it is lower, and changes nothing else.
-- Params: $1 show, $2 version that Redis has bigint.
-- Returns: 0 or 1 row: the new version.
-- Called by: lib/database/seats/seat_store.c.
UPDATE show
   SET version = $2::bigint + 1
 WHERE id = $1 AND version < $2::bigint
RETURNING version
