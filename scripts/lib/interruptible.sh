# shellcheck shell=bash
# interruptible.sh: waiting that a signal ends at once.
#
# bash runs a trap only between commands, so a long child in the foreground would delay Ctrl-C
# until it ends. Here long children run in the background, and every wait looks at stop_requested.

stop_requested=0
stop_exit_code=0
exec {tick_fd}<> <(:)

# catch_signals: from now on INT, TERM and HUP ask for an orderly stop.
catch_signals()
{
    trap 'stop_requested=1' INT TERM HUP
    # A reader that went away must not end us before our parts are stopped.
    trap '' PIPE
}

# leave_when_asked: ends the script (and so, by its EXIT trap, everything) after such a signal.
leave_when_asked()
{
    if ((stop_requested)); then
        exit "$stop_exit_code"
    fi
}

# tick SECONDS: sleeps, without a process for it; a signal shortens the sleep.
tick()
{
    read -r -t "$1" -u "$tick_fd" _ || true
}

# now_ms: milliseconds since boot, in now; no clock that somebody may set.
now_ms()
{
    local up
    read -r up _ </proc/uptime
    # shellcheck disable=SC2034 # the result, read by callers
    now=$((10#${up/./} * 10))
}

# await_step PID HOW...: waits for a child; its exit code. A stop request runs `HOW PID` until the
# child has ended, and then ends us.
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

# start_step COMMAND...: starts a child in a session of its own; its pid, which is the session's too, in started.
# Our own death ends it.
start_step()
{
    (
        close_extra_files
        exec setsid setpriv --pdeathsig TERM -- "$@"
    ) &
    # shellcheck disable=SC2034 # the result, read by callers
    started=$!
}

# run_step COMMAND...: the same, and waits for it; its exit code. A stop request ends it and what it started.
run_step()
{
    start_step "$@"
    await_step "$started" pkill -TERM -s
}
