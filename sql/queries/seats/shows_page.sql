-- One page of a queue's shows.
-- Params: $1 queue, $2 shows after this id, $3 limit.
-- Returns: 0..$3 rows by id: show, version, concert, when that version was stored (µs since 1970).
-- Called by: lib/database/seats/seat_store.c.
SELECT id, version, concert, (extract(epoch FROM updated_at) * 1000000)::bigint
  FROM show
 WHERE queue = $1 AND id > $2
 ORDER BY id
 LIMIT $3::bigint
