-- Checks that the server answers.
-- Params: none.
-- Returns: 1 row.
-- Called by: lib/store/postgres.c.
SELECT 1
