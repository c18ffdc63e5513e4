# shellcheck shell=bash
# tally.sh: adds up what different test runners report.

tally_passed=0
tally_failed=0
tally_skipped=0
# The number of failures that the current runner has reported.
tally_of_runner=0

# tally_add PASSED FAILED SKIPPED
tally_add()
{
    tally_passed=$((tally_passed + $1))
    tally_failed=$((tally_failed + $2))
    tally_skipped=$((tally_skipped + $3))
    tally_of_runner=$((tally_of_runner + $2))
}

# tally_unless_failed STATUS: a runner that failed without a failed test (it crashed or timed
# out) counts as one; this ends the counting of a runner.
tally_unless_failed()
{
    if (($1 != 0 && tally_of_runner == 0)); then
        say "the test runner itself failed with exit code $1"
        tally_failed=$((tally_failed + 1))
    fi
    tally_of_runner=0
}

# count_lines PATTERN FILE: how many lines of FILE match.
count_lines()
{
    grep -cE -- "$1" "$2" || true
}

# tally_lines FILE: lines `ok - …` and `not ok - …`.
tally_lines()
{
    tally_add "$(count_lines '^ok - ' "$1")" "$(count_lines '^not ok - ' "$1")" 0
}

# tally_automake DIRECTORY: each test program's .trs file; if its log is cmocka's, the tests in it.
tally_automake()
{
    local trs log passed failed
    while read -r trs; do
        log=${trs%.trs}.log
        passed=$(sed -nE 's/^\[  PASSED  \] ([0-9]+) test.*/\1/p' "$log" 2>/dev/null | awk '{ n += $1 } END { print n + 0 }')
        failed=$(sed -nE 's/^\[  FAILED  \] ([0-9]+) test.*/\1/p' "$log" 2>/dev/null | awk '{ n += $1 } END { print n + 0 }')
        if ((passed + failed > 0)) && ! grep -q '^:test-result: ERROR' "$trs"; then
            tally_add "$passed" "$failed" 0
        else
            tally_add "$(count_lines '^:test-result: (PASS|XFAIL)' "$trs")" \
                "$(count_lines '^:test-result: (FAIL|ERROR|XPASS)' "$trs")" \
                "$(count_lines '^:test-result: SKIP' "$trs")"
        fi
    done < <(find "$1" -name '*.trs' | sort)
}

# junit_number NAME FILE: an attribute of the first test suite in FILE.
junit_number()
{
    sed -nE "s/.*<testsuite [^>]*\b$1=\"([0-9]+)\".*/\1/p" "$2" | head -n 1
}

# tally_junit FILE: pytest's report.
tally_junit()
{
    local file=$1 tests failed skipped
    [[ -s $file ]] || return 0
    tests=$(junit_number tests "$file")
    skipped=$(junit_number skipped "$file")
    failed=$(($(junit_number failures "$file") + $(junit_number errors "$file")))
    # A test whose teardown failed as well counts twice among the failures.
    tally_add "$((tests > failed + skipped ? tests - failed - skipped : 0))" "$failed" "$skipped"
}

# tap_number WORD FILE: the number in the line `# WORD N` at the end of node's runner.
tap_number()
{
    sed -nE "s/^# $1 ([0-9]+)$/\1/p" "$2" | tail -n 1
}

# tally_tap FILE: the report of node's test runner.
tally_tap()
{
    local passed failed skipped
    passed=$(tap_number pass "$1")
    failed=$(tap_number fail "$1")
    skipped=$(tap_number skipped "$1")
    tally_add "${passed:-0}" "${failed:-0}" "${skipped:-0}"
}

# tally_print: prints the closing line; exits with 1 if one failed or none ran.
tally_print()
{
    printf '%d passed, %d failed, %d skipped\n' "$tally_passed" "$tally_failed" "$tally_skipped"
    ((tally_failed == 0 && tally_passed > 0)) || exit 1
}
