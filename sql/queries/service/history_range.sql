-- A queue's history, one point a step: the figures of the step's last minute, the highest latencies of its minutes.
-- Params: $1 queue text, $2 from and $3 to (exclusive) in seconds since 1970 bigint, $4 step in seconds bigint, $5 limit
--   bigint.
-- Returns: the step's beginning in seconds, then the columns in the order of the table.
-- Called by: lib/database/service/history_store.c
SELECT b.at, h.waiting, h.ready, h.claimed, h.entered, h.admitted, h.consumed, h.expired, h.went, h.withdrawn, h.rate_milli,
       b.p50_ms, b.p95_ms, b.p99_ms, h.order_errors, h.promised_seconds, h.actual_seconds
  FROM (SELECT floor(extract(epoch FROM s.minute) / $4::bigint)::bigint * $4::bigint AS at, max(s.minute) AS last,
               max(s.p50_ms) AS p50_ms, max(s.p95_ms) AS p95_ms, max(s.p99_ms) AS p99_ms
          FROM queue_history s
         WHERE s.queue = $1 AND s.minute >= to_timestamp($2::bigint) AND s.minute < to_timestamp($3::bigint)
         GROUP BY 1) AS b
  JOIN queue_history h ON h.queue = $1 AND h.minute = b.last
 ORDER BY b.at
 LIMIT $5::bigint;
