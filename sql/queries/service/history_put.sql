-- Adds minutes to a queue's history; existing ones stay as they are.
-- Params: $1 queue text, $2 a JSON array of objects with minute (since 1970) and the columns' names.
-- Returns: nothing.
-- Called by: lib/database/service/history_store.c
INSERT INTO queue_history (queue, minute, waiting, ready, claimed, entered, admitted, consumed, expired, went, withdrawn,
                           rate_milli, p50_ms, p95_ms, p99_ms, order_errors, promised_seconds, actual_seconds)
SELECT $1, to_timestamp(r.minute * 60), r.waiting, r.ready, r.claimed, r.entered, r.admitted, r.consumed, r.expired, r.went,
       r.withdrawn, r.rate_milli, r.p50_ms, r.p95_ms, r.p99_ms, r.order_errors, r.promised_seconds, r.actual_seconds
  FROM jsonb_to_recordset($2::jsonb) AS r (
       minute bigint, waiting bigint, ready bigint, claimed bigint, entered bigint, admitted bigint, consumed bigint,
       expired bigint, went bigint, withdrawn bigint, rate_milli bigint, p50_ms bigint, p95_ms bigint, p99_ms bigint,
       order_errors bigint, promised_seconds bigint, actual_seconds bigint)
    ON CONFLICT (queue, minute) DO NOTHING;
