# shellcheck shell=bash
# lint_rules.sh: one function a rule, named rule_NAME; on failure it prints what is wrong and fails.
# They run in project_root.

# forbid TEXT PATTERN FILE...: fails if the pattern occurs, and prints TEXT as the reason.
forbid()
{
    local text=$1 pattern=$2
    shift 2
    [[ $# -gt 0 ]] || return 0
    if grep -nEH -- "$pattern" "$@"; then
        printf '%s\n' "$text"
        return 1
    fi
}

rule_c_layout()
{
    local wrong
    wrong=$(source_files '*.c' '*.h' | xargs --no-run-if-empty clang-format --dry-run 2>&1 |
        sed -nE 's/^([^ :]+:[0-9]+):.*\[-Wclang-format-violations\]$/\1/p' | uniq)
    if [[ -n $wrong ]]; then
        printf '%s\nrun scripts/format\n' "$wrong"
        return 1
    fi
}

rule_c_analysis()
{
    # Not the tests: cmocka's macros hide that failed assertions do not return.
    source_files '*.c' | grep -v '^tests/' | xargs --no-run-if-empty cppcheck --quiet --std=c11 -j "$(nproc)" -I . \
        --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
        --suppress=missingInclude --suppress=missingIncludeSystem
}

# By .clang-tidy. The headers that a build generates are generated here: there may be no build yet.
rule_c_tidy()
{
    local generated found status=0
    generated=$(mktemp -d)
    mkdir -- "$generated/lua" "$generated/sql"
    scripts/embed-lua --c lua "$generated/lua/scripts.gen.h"
    scripts/embed-sql --c sql/queries "$generated/sql/queries.gen.h"
    {
        printf '%s\n' -std=c11 -D_GNU_SOURCE '-DPACKAGE_VERSION=""' "-I$project_root" "-I$generated"
        pkg-config --cflags hiredis libpq json-c | xargs printf '%s\n'
    } >"$generated/compile_flags.txt"
    found=$(source_files '*.c' | grep -v '^tests/' | xargs --no-run-if-empty --max-args=20 --max-procs="$(nproc)" \
        clang-tidy --quiet -p "$generated" 2>&1) || status=1
    rm -rf -- "$generated"
    if ((status)); then
        grep -vE '^[0-9]+ (warning|error)s? ' <<<"$found" || true
    fi
    return "$status"
}

rule_c_functions()
{
    local files
    mapfile -t files < <(source_files '*.c' '*.h')
    forbid "these functions have no bound, no error or a shell: see lib/base for others" \
        '\b(strcpy|strcat|v?sprintf|gets|atoi|atol|system|popen)[[:space:]]*\(' "${files[@]}"
}

# A route works in terms of the layers below, never in their languages.
rule_routes_without_store_text()
{
    local files wrong=0
    mapfile -t files < <(source_files '*.c' | grep -E '^fcgi-app/(queue|gate|order|payment|operator|catalog|machine)/' || true)
    forbid "SQL and Redis commands belong to lib/database and lib/admission" \
        '"(SELECT|INSERT|UPDATE|DELETE FROM|EVALSHA|HGET|HSET|ZADD|ZRANK|GET|SET) |<hiredis|<libpq-fe' \
        "${files[@]}" || wrong=1
    forbid "the words of a command and the elements of a reply belong to the module of lib that has both" \
        '\b(redis_command_[a-z_]+|redis_reply_[a-z_]+|postgres_query) ?\(|\b(SCRIPT|QUERY|REDIS_REPLY)_[A-Z]|->elements?\b' \
        "${files[@]}" || wrong=1
    return "$wrong"
}

# Foreign text is passed to the stores as parameters, never as part of a statement, a command or a script.
rule_statements()
{
    local files wrong=0
    mapfile -t files < <(source_files '*.c' | grep -E '^(lib|fcgi-app|scheduler|reconcile|board|sluicectl)/')
    forbid "use postgres_query(): statements are prepared, and their parameters are not SQL" \
        '\b(PQexec|PQexecParams|PQsendQuery|PQescape[A-Za-z]*)\(' "${files[@]}" || wrong=1
    forbid "use redis_command: its words are counted, not formatted" \
        '\b(redisv?Command|redisvAppendCommand|redisFormatCommand)\(|redisAppendCommand\([^"]*"[^"]*[^ A-Z%s"]' "${files[@]}" || wrong=1
    # GRANT needs names of roles and functions in its text: they come from the catalogue, by %I and as %s of a regprocedure.
    mapfile -t files < <(source_files '*.sql' | grep -vE '^sql/(rights|roles|migrations/0018_roles)\.sql$')
    forbid "a statement that is put together when it runs can be somebody else's" '\bEXECUTE +(format|'"'"'|[a-z_]+ *\|\|)' "${files[@]}" || wrong=1
    mapfile -t files < <(source_files '*.lua' | grep '^lua/')
    forbid "a script does only what stands in it" '\b(loadstring|load|dofile)\(|redis\.p?call\((arg_|ARGV)' "${files[@]}" || wrong=1
    return "$wrong"
}

# The duration of a comparison must not reveal how much of a secret was right. (Lua compares strings by address.)
rule_secret_comparisons()
{
    local files
    mapfile -t files < <(source_files '*.c' | grep -E '^(lib/(identity|captcha|payments|admission|database)|fcgi-app)/')
    forbid "secrets are compared by constant_time_equal()" \
        '\b(str_equal|strn?cmp|strn?casecmp|memcmp)\([^;]*\b(h?mac|signature|digest|secret|password|token|entry_token|key_signature)\b' \
        "${files[@]}"
}

# lib/base → metrics → settings → http_client → store → catalog → identity → captcha → admission → database → payments →
# programs: only downwards.
rule_layers()
{
    local layers=(base metrics settings http_client store catalog identity captcha admission database payments)
    local lower higher wrong=0 files
    for lower in "${!layers[@]}"; do
        mapfile -t files < <(source_files '*.c' '*.h' | grep "^lib/${layers[lower]}/" || true)
        higher=$(IFS='|' && printf '%s' "${layers[*]:lower+1}")
        forbid "lib/${layers[lower]} is below what it includes here" \
            "#include \"(lib/(${higher:-none})/|fcgi-app/|scheduler/|reconcile/|sluicectl/)" \
            "${files[@]}" || wrong=1
    done
    return "$wrong"
}

# As Redis gets them: only the expanded scripts declare their keys and arguments.
rule_lua()
{
    local expanded script status=0
    expanded=$(mktemp -d)
    while read -r script; do
        scripts/embed-lua --expand "$script" >"$expanded/${script##*/}"
    done < <(scripts/embed-lua --list lua)
    luacheck --quiet --no-color --std lua51 --no-max-line-length \
        --read-globals redis KEYS ARGV cjson cmsgpack bit struct -- "$expanded" || status=1
    rm -rf -- "$expanded"
    return "$status"
}

# A script of lua/ and a statement of sql/queries/ lie in a folder that is named as that of a C file that calls them.
rule_called_from_folder()
{
    local file name folder sources wrong=0
    mapfile -t sources < <(source_files '*.c' | grep -E '^(lib|sluicectl)/')
    while read -r file; do
        folder=${file%/*} name=${file##*/}
        name=$([[ $file == lua/* ]] && printf SCRIPT_ || printf QUERY_)${name%.*}
        if ! grep -lwF -- "${name^^}" "${sources[@]}" | grep -qE "/${folder##*/}/[^/]+$"; then
            printf '%s: no C file in a folder %s calls it\n' "$file" "${folder##*/}"
            wrong=1
        fi
    done < <(scripts/embed-lua --list lua && source_files '*.sql' | grep '^sql/queries/')
    return "$wrong"
}

rule_shell()
{
    local files
    # scripts/lib is checked through the scripts that source it, which have all the variables.
    mapfile -t files < <(shell_scripts | grep -v '^scripts/lib/')
    shellcheck --external-sources --check-sourced --source-path=SCRIPTDIR "${files[@]}"
}

rule_text()
{
    local files sources wrong=0
    mapfile -t files < <(source_files '*.c' '*.h' '*.tbl' '*.lua' '*.sql' '*.sh' '*.py' '*.conf.in' '*.html.in' '*.md')
    forbid "space at the end of a line" '[[:space:]]+$' "${files[@]}" || wrong=1
    mapfile -t sources < <(source_files '*.c' '*.h' | grep '^fcgi-app/')
    LC_ALL=C.UTF-8 forbid "longer than 100 columns" '^.{101}' "${sources[@]}" || wrong=1
    forbid "unfinished work is an issue, not a comment" '\b(TO''DO|FIX''ME|XX''X)\b' "${files[@]}" || wrong=1
    return "$wrong"
}

# The reference pages match the tables.
rule_docs()
{
    "$project_root/docs/generate-reference.sh" --check
}

# The index of decisions has each of them, by its title.
rule_decisions()
{
    diff <(sed -nE 's/^\| \[([0-9]{4})\]\((.*)\) \| (.*) \|$/\2: # \1 \3/p' docs/decisions/README.md) \
        <(cd docs/decisions && grep -m 1 '^# ' [0-9]*.md | sed 's/:/: /')
}

# Every key of Redis that a script or C names is in the table of keys, and every row of that table is used.
rule_redis_keys()
{
    python3 docs/redis-keys.py check
}

# metric_names: every name in the table of metrics, and the two defined in the code.
metric_names()
{
    {
        sed -nE '/^[A-Z_]+\(/s/.*"(sluice_[a-z0-9_]+)".*/\1/p' lib/metrics/metrics.tbl
        sed -nE 's/.*"# HELP (sluice_[a-z0-9_]+) .*/\1/p' lib/metrics/metrics_text.c
    } | sort -u
}

# dashboard_rules: prints the expressions of the dashboards, as rules that promtool can read.
dashboard_rules()
{
    python3 -c '
import json, sys
found = [target["expr"] for path in sys.argv[1:] for panel in json.load(open(path))["panels"]
         for target in panel.get("targets", [])]
print(json.dumps({"groups": [{"name": "dashboards", "rules": [
    {"record": f"dashboard:{number}", "expr": expression} for number, expression in enumerate(found)]}]}))' "$@"
}

# Every metric is in a dashboard or a rule, every name in one of those is a metric, and every alert has its section.
rule_alerts()
{
    local name wrong=0 names
    local watched=(docs/ops/rules.yml docs/ops/rules_test.yml docs/ops/grafana/*.json docs/ops/runbook.md)
    names=$(metric_names)
    while read -r name; do
        if ! grep -qE "\b${name}(_bucket|_sum|_count)?\b" docs/ops/rules.yml docs/ops/grafana/*.json; then
            printf 'lib/metrics: %s is in no rule and no dashboard of docs/ops\n' "$name"
            wrong=1
        fi
    done <<<"$names"
    while IFS=: read -r file name; do
        # Histograms by their parts; the names of recording rules have a colon after sluice.
        if ! grep -qxF -e "$name" -e "${name%_bucket}" -e "${name%_sum}" -e "${name%_count}" <<<"$names"; then
            printf '%s: there is no metric %s\n' "$file" "$name"
            wrong=1
        fi
    done < <(grep -oHE '\bsluice_[a-z0-9_]+' "${watched[@]}" | sort -u)
    if ! diff <(sed -nE 's/^ *- alert: (.*)/\1/p' docs/ops/rules.yml | sort) \
        <(sed -nE 's/^## (Sluice[A-Za-z]+)$/\1/p' docs/ops/runbook.md | sort); then
        printf 'docs/ops: < is an alert without a section in runbook.md, > a section without an alert\n'
        wrong=1
    fi
    promtool check rules <(dashboard_rules docs/ops/grafana/*.json) >/dev/null || wrong=1
    (cd docs/ops && promtool check config prometheus.yml && promtool test rules rules_test.yml) >/dev/null || wrong=1
    return "$wrong"
}

# route_names: the functions of the table of routes.
route_names()
{
    sed -nE 's/^ROUTE\([A-Z]+, [A-Z]+, "[^"]*", (\w+),.*/\1/p; s/^(LINE|TRANSACTION)_ROUTE\([A-Z]+, "[^"]*", (\w+),.*/\2/p' \
        fcgi-app/routes.tbl | sort -u
}

# Each route of the table has a file of its name, which has no other route.
rule_route_files()
{
    local name files sources wrong=0
    mapfile -t sources < <(source_files '*.c' | grep '^fcgi-app/')
    while read -r name; do
        mapfile -t files < <(grep -lE "^[a-z].*\b${name}(_begin)?\(" "${sources[@]}")
        if [[ ${#files[@]} -ne 1 || ${files[0]##*/} != "$name.c" ]]; then
            printf 'fcgi-app/routes.tbl: %s is not in a file %s.c of its own, but in: %s\n' "$name" "$name" "${files[*]}"
            wrong=1
        fi
    done < <(route_names)
    return "$wrong"
}

# The head of each route's file says what it replies, how it fails and what it touches; an operators' route, for which
# roles. A code of errors.tbl stands behind its status.
rule_route_heads()
{
    local name file field fields head wrong=0
    while read -r name; do
        file=$(source_files "$name.c" | grep '^fcgi-app/' || true)
        [[ -n $file ]] || continue # route-files reports it
        fields=(Reply Errors Touches)
        [[ $file != fcgi-app/operator/* ]] || fields+=(Roles)
        head=$(sed '/^ \*\/$/q' "$file")
        for field in "${fields[@]}"; do
            if ! grep -qE "^ \* $field {1,9}[^ ]" <<<"$head"; then
                printf '%s: its head has no field %s\n' "$file" "$field"
                wrong=1
            fi
        done
        if ! awk -v file="$file" '
            NR == FNR { if (match($0, /^ERROR\([A-Z_]+, [0-9]+/)) { split(substr($0, 7, RLENGTH - 6), error, ", "); status[error[1]] = error[2] } next }
            /^ \* [A-Z][a-z]+ +[^ ]/ { inside = $2 == "Errors"; before = "" }
            /^ \*$/ { inside = 0 }
            inside { for (i = 2; i <= NF; i++) { word = $i; gsub(/[^A-Z_0-9]/, "", word)
                if (word in status && before != status[word]) { print file ": write " status[word] " " word; wrong = 1 }
                before = word } }
            END { exit wrong }' fcgi-app/http/errors.tbl - <<<"$head"; then
            wrong=1
        fi
    done < <(route_names)
    return "$wrong"
}

# Each route of the table has an nginx location, and each error that nginx answers is in its table.
rule_nginx_covers_routes()
{
    local path wrong=0 locations
    locations=$(sed -nE 's/^ *location (= |\^~ )?([^ ~]+) \{.*/\2/p' nginx/snippets/*.conf.in nginx/gate/*.conf.in)
    while read -r path; do
        if ! awk -v path="$path" 'index(path, $1) == 1 { found = 1 } END { exit !found }' \
            <<<"$locations"; then
            printf 'fcgi-app/routes.tbl: %s has no location in nginx/snippets\n' "$path"
            wrong=1
        fi
    done < <(grep -v 'For nginx alone' fcgi-app/routes.tbl |
        sed -nE 's/^(LINE_|TRANSACTION_)?ROUTE\([^"]*"([^"]+)".*/\2/p')
    while read -r path; do
        path=${path//-/_}
        if ! grep -q "^ERROR(${path^^}," fcgi-app/http/errors.tbl; then
            printf 'nginx/snippets: the problem %s is not in fcgi-app/http/errors.tbl\n' "$path"
            wrong=1
        fi
    done < <(sed -nE 's|^ *error_page .* /_problem/(operator-)?([a-z-]+);|\2|p' nginx/snippets/*.conf.in nginx/gate/*.conf.in)
    return "$wrong"
}

# In PCRE $ also matches before a newline at the end, which %0a in a path is.
rule_nginx_expressions()
{
    local files
    mapfile -t files < <(source_files '*.conf.in' '*.conf' | grep -E '^(nginx|packaging)/')
    forbid "end the expression of a location with \\z" '^ *location ~\*? .*\$"? \{' "${files[@]}"
}

# The state machine of payments is in lib/database/payments/payment_states.tbl, and PostgreSQL's must be the
# same.
rule_payment_states()
{
    local table=lib/database/payments/payment_states.tbl sql=sql/migrations/0013_payments.sql open wrong=0
    if ! diff <(sed -nE "s/^STATE\\((\\w+), (\\w+), (\\w+), .*/('\\1', \\2, \\3)/p; s/^TRANSITION\\((\\w+), (\\w+), .*/('\\1', '\\2')/p" "$table") \
        <(sed -nE "s/^    (\\('[A-Z_]+', (true|false|').*\\))[,;]$/\\1/p" "$sql"); then
        printf '%s and %s do not have the same states and transitions\n' "$table" "$sql"
        wrong=1
    fi
    open=$(sed -nE "s/^STATE\\((\\w+), true, .*/'\\1'/p" "$table" | paste -sd , | sed 's/,/, /g')
    if ! grep -A1 'INDEX payment_open_key' "$sql" | grep -qF "state IN ($open)"; then
        printf '%s: payment_open_key is not about the open states of %s\n' "$sql" "$table"
        wrong=1
    fi
    return "$wrong"
}

# Each group of sluicectl's commands has a man page, and each page a group.
rule_sluicectl_pages()
{
    if ! diff <(sed -nE 's|^\t%D%/(sluicectl[a-z-]*)\.1.*|\1|p' sluicectl/Makefile.inc | sort) \
        <({ sluicectl/generate groups | sed 's/^/sluicectl-/' && printf 'sluicectl\n'; } | sort); then
        printf 'sluicectl/Makefile.inc: sluicectl_pages must have a page for each group of sluicectl/commands.tbl\n'
        return 1
    fi
}

# Documents that make promises name the tests that check them, and those tests exist.
rule_claims()
{
    local document documents=()
    for document in docs/threat-model.md docs/reliability.md; do
        [[ ! -f $document ]] || documents+=("$document")
    done
    python3 docs/claims.py "${documents[@]}"
}
