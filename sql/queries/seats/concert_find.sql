-- One concert, for operators.
-- Params: $1 concert.
-- Returns: 0 or 1 row; times in ms since 1970.
-- Called by: lib/database/seats/show_store.c.
SELECT id, title, venue, description, version, epoch_ms(created_at), epoch_ms(updated_at)
  FROM concert
 WHERE id = $1
