#!/bin/bash
# Usage: docs/generate-reference.sh [--check]
#
# Writes docs/settings.md, docs/queue-settings.md, docs/payments.md, docs/redis-data.md, docs/sluicectl.md and docs/ops/metrics.md from the
# tables that the programs are built from: lib/settings/settings.tbl, lib/admission/queues/queue_settings.tbl,
# lib/database/payments/payment_states.tbl, lua/keys.tbl, sluicectl/commands.tbl and options.tbl, and lib/metrics/metrics.tbl.
# With --check it writes nothing, shows
# what differs, and fails where something does.
set -euo pipefail

docs=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
root=$(dirname -- "$docs")

# rows TABLE: of each SETTING(…): name, kind, minimum, maximum, default, unit, description, tab-separated.
rows()
{
    awk '
        /^SETTING\(/ {
            text = $0
            while (text !~ /\)[ \t]*$/ && (getline line) > 0) {
                sub(/^[ \t]+/, " ", line)
                text = text line
            }
            sub(/^SETTING\(/, "", text)
            sub(/\)[ \t]*$/, "", text)
            out = ""
            quoted = 0
            for (i = 1; i <= length(text); i++) {
                c = substr(text, i, 1)
                if (c == "\\" && quoted) {
                    out = out substr(text, ++i, 1)
                } else if (c == "\"") {
                    quoted = !quoted
                } else if (c == "," && !quoted) {
                    out = out "\t"
                    while (substr(text, i + 1, 1) == " ") i++
                } else {
                    out = out c
                }
            }
            print out
        }' "$1"
}

# print_rows TABLE NULLABLE: the rows as a Markdown table. NULLABLE 1: a default of null is written out.
print_rows()
{
    printf '| name | takes | default | meaning |\n|---|---|---|---|\n'
    rows "$1" | awk -F '\t' -v nullable="$2" '
        function code(text) { return "`" text "`" }
        function words(text,    list, count, i, out) {
            count = split(text, list, "|")
            for (i = 1; i <= count; i++) out = out (i > 1 ? ", " : "") code(list[i])
            return out
        }
        {
            name = $1; kind = $2; least = $3; most = $4; start = $5; unit = $6; meaning = $7
            if (kind == "CHOICE") {
                takes = words(substr(meaning, 1, index(meaning, ":") - 1))
                meaning = substr(meaning, index(meaning, ":") + 2)
            } else if (kind == "BOOLEAN") takes = code("true") ", " code("false")
            else if (kind == "INTEGER") takes = "whole number, " least " to " most
            else if (kind == "NUMBER") takes = "number, " least " to " most
            else if (kind == "TIME") takes = "RFC 3339 time"
            else if (kind == "TEXT") takes = "text, at most " most " bytes"
            else if (kind == "JSON") takes = "JSON"
            else if (kind == "PATH") takes = "absolute path"
            else if (kind == "SECRET_PATH") takes = "absolute path of a file that only its owner can read"
            else if (kind == "CONNINFO") takes = "libpq connection string"
            else { print "unknown kind " kind > "/dev/stderr"; exit 1 }
            if (unit != "") takes = takes " (" unit ")"
            if (nullable && start == "null") takes = takes ", or " code("null")
            gsub(/\|/, "\\|", meaning)
            printf "| %s | %s | %s | %s |\n", code(name), takes,
                start == "" ? "not set" : code(start), meaning
        }'
}

print_settings()
{
    cat <<'TEXT'
# Settings of the programs

<!-- Written by docs/generate-reference.sh from lib/settings/settings.tbl: change it there. -->

`sluice-fcgi`, `sluice-scheduler`, `sluice-board` and `sluice-reconcile` read the same file, given by `--config`
or `SLUICE_CONFIG`. A line is `key = value`; a line that begins with `#` is a comment. The environment overrides
the file: `SLUICE_LOG_LEVEL=debug` sets `log_level`. An unknown key, or a value out of range, stops
the program with one sentence and exit code 78.

`{program}` in a value is replaced by the name of the program that reads it (`queue`, `order`, `payment`, `operator`, `catalog`,
`scheduler`, `board`, `reconcile` or `doctor`), so that each can be a different user of the stores: [ops/rights.md](ops/rights.md).

`--check-config` only checks, `--print-config` prints the settings in force, with passwords masked.

TEXT
    print_rows "$root/lib/settings/settings.tbl" 0
}

print_queue_settings()
{
    cat <<'TEXT'
# Settings of a queue

<!-- Written by docs/generate-reference.sh from lib/admission/queues/queue_settings.tbl: change it there. -->

`PUT /v1/admin/queues/{queue}` sets all of them; omitted settings take their default. `PATCH` changes only the given
ones. A change takes effect within a second, on every worker and scheduler.

Across settings: `burst` must be at least what `ratePerSecond` yields in one `tickMs`.
If `pollTiers` is set, `pickupSeconds` must exceed its longest pause. A claim lasts at least three times `statement_timeout_ms`, even if `claimLeaseSeconds` is shorter ([settings of the programs](settings.md)).
The checklist (`sluicectl doctor`, the console) warns if `recoverySeconds` or `pickupSeconds` is below the longest poll interval
with its jitter of up to a quarter; that of the default tiers is 37.5 s. A first tier that ends by rank 100 has no jitter.

`openapi.yaml` (`POST /v1/queues/{queue}/entries`) describes what a client does for `entryCaptcha`; the waiting page does it.
`autopilot` is described in [autopilot.md](autopilot.md).

TEXT
    print_rows "$root/lib/admission/queues/queue_settings.tbl" 1
}

# macro_rows MACRO TABLE: of each MACRO(a, b, …, "text"): its arguments, tab-separated.
macro_rows()
{
    sed -nE "s/^$1\\((.*)\\)\$/\1/p" "$2" | sed -E 's/, "(.*)"$/, \1/' |
        awk -v count="$([[ $1 == STATE ]] && printf 4 || printf 3)" '
            {
                rest = $0
                out = ""
                for (i = 1; i < count; i++) {
                    at = index(rest, ", ")
                    out = out substr(rest, 1, at - 1) "\t"
                    rest = substr(rest, at + 2)
                }
                print out rest
            }'
}

print_payments()
{
    local table=$root/lib/database/payments/payment_states.tbl
    cat <<'TEXT'
# The life of a payment

<!-- Written by docs/generate-reference.sh from lib/database/payments/payment_states.tbl: change it there. -->

An order has at most one open payment, and does not end before that payment has left its open state. The code, the
tables `payment_state` and `payment_transition` of PostgreSQL and this page come from one table. The reasons:
[0024](decisions/0024-payment-pool.md).

TEXT
    printf '| state | open | may hold money | meaning |\n|---|---|---|---|\n'
    macro_rows STATE "$table" | awk -F '\t' '
        function yes(word) { return word == "true" ? "yes" : "" }
        { printf "| `%s` | %s | %s | %s |\n", $1, yes($2), yes($3), $4 }'
    printf '\n| from | to | by |\n|---|---|---|\n'
    macro_rows TRANSITION "$table" | awk -F '\t' '{ printf "| `%s` | `%s` | %s |\n", $1, $2, $3 }'
}

# metric_rows: of each metric: its kind of row, name, type, all labels of its rows, help; tab-separated.
metric_rows()
{
    awk '
        # The quoted texts of the row, and before them the words.
        function cut(row,    i, c, quoted, text) {
            quoted = count = 0
            text = ""
            for (i = index(row, "(") + 1; i <= length(row); i++) {
                c = substr(row, i, 1)
                if (c == "\\" && quoted) text = text substr(row, ++i, 1)
                else if (c == "\"") {
                    if (quoted) texts[++count] = text
                    quoted = !quoted
                    text = ""
                } else if (quoted) text = text c
            }
        }
        function flush() {
            if (name != "") printf "%s\t%s\t%s\t%s\t%s\n", kind, name, type, labels, help
            name = ""
        }
        /^[A-Z_]+\(.*\)$/ {
            row_kind = substr($0, 1, index($0, "(") - 1)
            split(substr($0, index($0, "(") + 1), words, ", ")
            cut($0)
            row_type = row_kind == "REQUEST_COUNTS" || words[2] == "COUNTER" ? "counter" : "gauge"
            if (row_kind ~ /HISTOGRAM|TIMES/) row_type = "histogram"
            row_labels = count == 3 ? texts[2] : ""
            if (texts[1] != name) {
                flush()
                kind = row_kind
                name = texts[1]
                type = row_type
                labels = row_labels
                help = texts[count]
            } else {
                split(row_labels, pair, "=")
                labels = labels ", " pair[2]
            }
        }
        END { flush() }' "$1"
}

# print_metrics PATTERN LABELS: a table of the metrics of these kinds, which have these labels too.
print_metrics()
{
    printf '| name | type | labels | meaning, and what to do |\n|---|---|---|---|\n'
    metric_rows "$root/lib/metrics/metrics.tbl" | awk -F '\t' -v kinds="$1" -v more="$2" '
        $1 ~ kinds {
            labels = more ($4 != "" && more != "" ? ", " : "") $4
            gsub(/\|/, "\\|", $5)
            printf "| `%s` | %s | %s | %s |\n", $2, $3, labels == "" ? "" : "`" labels "`", $5
        }'
}

print_all_metrics()
{
    cat <<'TEXT'
# Metrics

<!-- Written by docs/generate-reference.sh from lib/metrics/metrics.tbl: change it there. -->

`GET /metrics` of any pool returns the metrics of all programs of its host, in Prometheus' text format, from shared
memory: a scrape queries neither Redis nor PostgreSQL. nginx allows the addresses of `snippets/metrics_allowed.conf`.
[prometheus.yml](prometheus.yml) scrapes it, [rules.yml](rules.yml) has the alerts, [grafana/](grafana/) the dashboards,
[runbook.md](runbook.md) says what to do.

Metrics read from Redis or PostgreSQL (queues, payments, the outbox) are the same on every host that shows them: take the `max`
over hosts, not the `sum`. They stay as they are on a host whose board or reconcile has stopped: leave these out, as in
`max by (queue) (sluice_queue_leader and on (job, instance) sluice:figures:fresh)`; [rules.yml](rules.yml) records `sluice:figures:fresh` for
queues, `sluice:books:fresh` for payments and the outbox, `sluice:reconcile:fresh` for `sluice_reconcile_needs_person`. A host's counters start at 0 when its `metrics_file` is created: at its start, or when another
release creates a new one.

## Hosts

TEXT
    print_metrics '^METRIC$|^HISTOGRAM$' ''
    cat <<'TEXT'
| `sluice_build_info` | gauge | `version` | 1, labelled with the release that answers. |
| `sluice_counting_since_timestamp_seconds` | gauge |  | When this host's counters started at 0. |

## Requests

One series per pool, method and route of `fcgi-app/routes.tbl` that has been requested.

TEXT
    print_metrics '^REQUEST_COUNTS$' 'pool, method, route, status=2xx, 3xx, 4xx, 5xx, waiting'
    print_metrics '^REQUEST_TIMES$' 'pool, method, route' | tail -n +3
    cat <<'TEXT'

## Queues

`sluice-board` of the host reads them from Redis about once a second. At most 50 queues are shown by name; the others are
aggregated as `queue="other"` (rates and counts summed; waits, latencies and alarm states by their maximum).

TEXT
    print_metrics '^QUEUE_' 'queue'
}

# put CHECK FILE TEXT: writes the text to FILE, or compares it.
put()
{
    local check=$1 file=$2 text=$3
    if ((!check)); then
        printf '%s\n' "$text" >"$file"
    elif ! diff -u -- "$file" <(printf '%s\n' "$text"); then
        printf 'docs/%s is not what its table says: run docs/generate-reference.sh\n' "${file##*/}"
        return 1
    fi
}

main()
{
    local check=0 status=0
    case ${1:-} in
        '') ;;
        --check) check=1 ;;
        *)
            awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0" >&2
            exit 64
            ;;
    esac
    put "$check" "$docs/settings.md" "$(print_settings)" || status=1
    put "$check" "$docs/queue-settings.md" "$(print_queue_settings)" || status=1
    put "$check" "$docs/payments.md" "$(print_payments)" || status=1
    put "$check" "$docs/redis-data.md" "$("$docs/redis-keys.py" markdown)" || status=1
    put "$check" "$docs/sluicectl.md" "$("$root/sluicectl/generate" markdown)" || status=1
    put "$check" "$docs/ops/metrics.md" "$(print_all_metrics)" || status=1
    exit "$status"
}

main "$@"
