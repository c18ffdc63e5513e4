-- One page of coupon events, without the counts of their coupons, which would take long.
-- Params: $1 events after this id text, $2 limit bigint.
-- Returns: 0..$2 rows by id: id, the event as JSON.
-- Called by: lib/database/goods/object_pages.c.
SELECT id,
       json_build_object(
           'event', id, 'name', name, 'queue', queue,
           'opensAt', to_char(opens_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'endsAt', to_char(ends_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'captcha', captcha,
           'createdAt', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'updatedAt', to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  FROM coupon_event
 WHERE id > $1
 ORDER BY id
 LIMIT $2::bigint
