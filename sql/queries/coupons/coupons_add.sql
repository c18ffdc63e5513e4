-- Adds coupons to an event, to be issued in this order; existing ones stay as they are.
-- Params: $1 event, $2 codes text[].
-- Returns: 0..n rows: the codes that existed already.
-- Called by: lib/database/coupons/coupon_store.c.
WITH added AS (
    INSERT INTO coupon (event, code)
    SELECT $1, given.code FROM unnest($2::text[]) WITH ORDINALITY AS given (code, n) ORDER BY given.n
    ON CONFLICT DO NOTHING RETURNING code
), queued AS (
    INSERT INTO outbox (queue, kind)
    SELECT queue, 'sold_out' FROM coupon_event WHERE id = $1 AND EXISTS (SELECT FROM added)
)
SELECT given.code
  FROM unnest($2::text[]) WITH ORDINALITY AS given (code, n)
 WHERE given.code NOT IN (SELECT code FROM added)
 ORDER BY given.n
