# shellcheck shell=bash
# supervise.sh: starts parts, restarts dead ones with backoff, and stops them.
#
# A part is one process in a session of its own: Ctrl-C reaches only us, so that parts stop in
# order, and a part's leftovers are found by its session. Part NAME is started by the function
# start_NAME, dashes as underscores, which calls spawn.

declare -A part_pid=() part_started=() part_delay=() part_due=()
# The length of each part's log when the part was started: only later lines are about it.
declare -A part_log_from=()
part_order=()
first_delay_ms=100
longest_delay_ms=5000
settled_after_ms=10000

# spawn NAME SIGNAL COMMAND...: starts a part in run_dir, with its output appended to its log. If we
# are killed, the kernel sends it SIGNAL.
spawn()
{
    local name=$1 signal=$2
    shift 2
    if [[ $name != demo ]]; then
        exec {part_out}>>"$data_dir/logs/$name.log"
    else
        exec {part_out}>&1
    fi
    part_log_from[$name]=$(stat -c %s -- "$data_dir/logs/$name.log" 2>/dev/null || printf 0)
    (
        cd "$run_dir"
        exec 0</dev/null 1>&"$part_out" 2>>"$data_dir/logs/$name.log"
        close_extra_files
        # bash makes a background child ignore INT and QUIT, and we ignore PIPE.
        exec env --default-signal=INT,QUIT,PIPE setsid setpriv --pdeathsig "$signal" -- "$@"
    ) &
    part_pid[$name]=$!
    exec {part_out}>&-
    now_ms
    part_started[$name]=$now
}

# start_part NAME: starts it and registers it for supervision.
start_part()
{
    local name=$1
    [[ " ${part_order[*]} " == *" $name "* ]] || part_order+=("$name")
    "start_${name//-/_}"
}

# part_lives NAME
part_lives()
{
    [[ -n ${part_pid[$1]:-} ]] && kill -0 "${part_pid[$1]}" 2>/dev/null
}

# kill_session PID: kills every process of that session.
kill_session()
{
    { pkill -KILL -s "$1" || true; } 2>/dev/null
}

# bury_part NAME: forgets a dead part and ends its leftovers; its exit code in part_status.
bury_part()
{
    local name=$1 pid=${part_pid[$1]}
    part_status=0
    wait "$pid" 2>/dev/null || part_status=$?
    kill_session "$pid"
    part_pid[$name]=
}

# fail_part NAME TEXT...: reports what is wrong with a part, shows the end of its log, and exits.
fail_part()
{
    local name=$1
    shift
    say "$name $*; the last lines of $data_dir/logs/$name.log:"
    tail -c "+$((${part_log_from[$name]:-0} + 1))" -- "$data_dir/logs/$name.log" 2>/dev/null |
        tail -n 15 | sed 's/^/    /' >&2 || true
    exit 1
}

# require_parts: until everything serves, a dead part means that the start has failed.
require_parts()
{
    local name
    leave_when_asked
    for name in "${part_order[@]}"; do
        if ! part_lives "$name"; then
            bury_part "$name"
            fail_part "$name" "ended at start with exit code $part_status"
        fi
    done
}

# wait_until SECONDS NAME TEXT COMMAND...: repeats the command until it succeeds; reports `NAME
# TEXT` when the time is up.
wait_until()
{
    local seconds=$1 name=$2 text=$3 deadline
    shift 3
    now_ms
    deadline=$((now + seconds * 1000))
    until "$@" >/dev/null 2>&1; do
        require_parts
        now_ms
        ((now < deadline)) || fail_part "$name" "$text within $seconds s"
        tick 0.05
    done
    require_parts
}

# watch_part NAME: notices its death, and restarts it when that is due.
watch_part()
{
    local name=$1 delay
    if part_lives "$name"; then
        return 0
    fi
    now_ms
    if [[ -n ${part_pid[$name]} ]]; then
        bury_part "$name"
        delay=$((${part_delay[$name]:-0} * 2))
        if ((delay == 0 || now - part_started[$name] > settled_after_ms)); then
            delay=$first_delay_ms
        fi
        ((delay <= longest_delay_ms)) || delay=$longest_delay_ms
        part_delay[$name]=$delay
        part_due[$name]=$((now + delay))
        say "$name ended with exit code $part_status; starting it again in $delay ms"
    fi
    if ((now >= part_due[$name])); then
        start_part "$name"
    fi
}

# supervise: keeps every part running until a stop is requested.
supervise()
{
    local name
    while ! ((stop_requested)); do
        for name in "${part_order[@]}"; do
            watch_part "$name"
        done
        tick 0.1
    done
}

# stop_part NAME SIGNAL SECONDS: asks a part to end, and kills it if it does not within SECONDS.
stop_part()
{
    local name=$1 signal=$2 seconds=$3 pid=${part_pid[$1]:-} deadline
    [[ -n $pid ]] || return 0
    # A stopped process would not handle it, so it is continued. First: SIGCONT also ends the stop by which LeakSanitizer
    # examines an exiting process, and both would wait for ever. In braces, so that bash's message about a killed child
    # is discarded with pkill's.
    {
        pkill -CONT -s "$pid" || true
        kill -s "$signal" "$pid" || true
    } 2>/dev/null
    now_ms
    deadline=$((now + seconds * 1000))
    while kill -0 "$pid" 2>/dev/null; do
        now_ms
        if ((now >= deadline)); then
            say "$name did not stop within $seconds s and is killed"
            kill_session "$pid"
            bury_part "$name"
            return 0
        fi
        tick 0.02
    done
    if pgrep -s "$pid" >/dev/null; then
        say "what $name has left behind is killed"
    fi
    bury_part "$name"
}
