-- Takes outbox rows to carry out; other callers do not get them before retry_at, 10 to 300 s later. A free_place row is taken
-- only after the order's consume row is deleted, and a consume keeps the place only while the order holds it: the two cannot
-- cross.
-- Params: $1 limit, $2 minimum age in ms of rows of kind consume.
-- Returns: 0..$1 rows, oldest first; the last columns are the event of the coupon that the token was spent on, and the
--   concert that has changed in the catalogue.
-- Called by: lib/database/outbox/outbox_store.c.
WITH due AS (
    SELECT b.id
      FROM outbox b
     WHERE (b.retry_at IS NULL OR b.retry_at <= now())
       AND (b.kind <> 'consume' OR b.created_at <= now() - interval '1 millisecond' * $2::bigint)
       AND NOT (b.kind = 'free_place' AND EXISTS (
               SELECT FROM outbox c WHERE c.kind = 'consume' AND c.order_id = b.order_id))
     ORDER BY b.id
     LIMIT $1::bigint
       FOR UPDATE SKIP LOCKED
), taken AS (
    UPDATE outbox b
       SET attempts = b.attempts + 1,
           retry_at = now() + interval '10 seconds' * least(b.attempts + 1, 30)
      FROM due
     WHERE b.id = due.id
    RETURNING b.*
)
SELECT t.id, t.queue, t.kind, t.member, t.order_id, t.admission_id, t.key_hash,
       COALESCE(o.place_held, false) AS keep_place, t.attempts,
       coupon_event_of(t.order_id), t.concert
  FROM taken t
  LEFT JOIN customer_order o ON o.id = t.order_id
 ORDER BY t.id
