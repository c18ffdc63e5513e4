# shellcheck shell=bash
# interruptible.sh: waits that end immediately on a signal.
#
# bash runs a trap only between commands, so a long child in the foreground would delay Ctrl-C
# until it ends. Here long children run in the background, and every wait checks stop_requested.

stop_requested=0
stop_exit_code=0
exec {tick_fd}<> <(:)

# catch_signals: from now on INT, TERM and HUP request an orderly stop.
catch_signals()
{
    trap 'stop_requested=1' INT TERM HUP
    # A reader that went away must not end us before our parts are stopped.
    trap '' PIPE
}

# leave_when_asked: exits (and so, by the EXIT trap, stops everything) after such a signal.
leave_when_asked()
{
    if ((stop_requested)); then
        exit "$stop_exit_code"
    fi
}

# tick SECONDS: sleeps without forking; a signal ends the sleep.
tick()
{
    read -r -t "$1" -u "$tick_fd" _ || true
}

# now_ms: milliseconds since boot, in now, from a clock that cannot be set.
now_ms()
{
    local up
    read -r up _ </proc/uptime
    # shellcheck disable=SC2034 # the result, read by callers
    now=$((10#${up/./} * 10))
}

# await_step PID HOW...: waits for a child and returns its exit code. A stop request runs `HOW PID`
# until the child has ended, and then exits.
await_step()
{
    local pid=$1 status=0
    shift
    while kill -0 "$pid" 2>/dev/null; do
        if ((stop_requested)); then
            "$@" "$pid" 2>/dev/null || true
        fi
        # Not `wait`: a signal just before it would go unnoticed until the child ends.
        tick 0.05
    done
    wait "$pid" || status=$?
    leave_when_asked
    return "$status"
}

# start_step COMMAND...: starts a child in a session of its own; its pid, which is also the session's, in
# started. It ends when we die.
start_step()
{
    (
        close_extra_files
        exec setsid setpriv --pdeathsig TERM -- "$@"
    ) &
    # shellcheck disable=SC2034 # the result, read by callers
    started=$!
}

# run_step COMMAND...: starts a step and waits for it; returns its exit code. A stop request ends it and what it
# started.
run_step()
{
    start_step "$@"
    await_step "$started" pkill -TERM -s
}
