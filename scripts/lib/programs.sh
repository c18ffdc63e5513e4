# shellcheck shell=bash
# programs.sh: Sluice's own programs: their settings file, the worker pools, scheduler, board, reconcile.
# Uses build_dir (where the programs are) and pool_sizes.sh.

# limit_backlog: limits it to what this kernel allows.
limit_backlog()
{
    local most
    read -r most </proc/sys/net/core/somaxconn
    if ((most < pool_backlog)); then
        say "net.core.somaxconn is $most: above that many waiting connections, requests are refused"
        pool_backlog=$most
    fi
}

# write_settings: writes the settings file of all programs.
write_settings()
{
    local data=$run_dir/data
    settings_file=$data_dir/sluice.conf
    cat >"$settings_file.new" <<CONF
# Written by scripts/run at every start. Change a setting with an environment variable, as
# SLUICE_LOG_LEVEL=debug scripts/run
redis_socket = $run_dir/redis.sock
redis_user = sluice-{program}
redis_password_file = $data/secrets/redis-{program}.key
postgres_conninfo = host=$run_dir/pg dbname=sluice user=sluice-{program}
queue_ticket_keys_file = $data/secrets/queue-ticket.keys
visitor_keys_file = $data/secrets/visitor.keys
altcha_keys_file = $data/secrets/altcha.keys
member_jwt_algorithm = HS256
member_jwt_key_file = $data/secrets/member-jwt.key
admin_key_file = $data/secrets/admin.key
viewer_key_file = $data/secrets/viewer.key
board_directory = $run_dir/board
origin_socket = $run_dir/fcgi/origin.sock
waiting_room_directory = $run_dir/waiting-room
catalog_l1_directory = $run_dir/memory/catalog
metrics_file = $run_dir/memory/metrics
snapshot_file = $run_dir/memory/snapshot
CONF
    if payments_are_simulated; then
        payment_simulator_settings >>"$settings_file.new"
    fi
    share_with_programs 640 "$settings_file.new"
    mv -- "$settings_file.new" "$settings_file"
    # Passed to the programs under a name without unusual characters.
    settings_file=$data/sluice.conf
}

# check_settings: reports a setting that the programs refuse here, once, instead of by each worker. Runs as their user, who may
# lack access to a key. Each pool reads its own keys. A file in our folder is named by its permanent path, as run_dir is
# removed before anybody can look.
check_settings()
{
    local text pool
    for pool in queue order payment operator catalog; do
        text=$("${as_program[@]}" "$build_dir/sluice-fcgi" --pool "$pool" --check-config --config "$settings_file" 2>&1) ||
            die "the settings are refused: ${text//"$run_dir/data/"/"$data_dir/"}"
    done
}

# say_unknown_variables: reports a misspelt SLUICE_<SETTING>, which would have no effect.
say_unknown_variables()
{
    local name settings
    settings=$("${as_program[@]}" "$build_dir/sluice-fcgi" --print-config --config "$settings_file" |
        sed -n 's/ = .*//p' | tr '[:lower:]' '[:upper:]')
    for name in "${!SLUICE_@}"; do
        [[ $name =~ ^SLUICE_(BUILD|CONFIG|URL|TEST.*|(QUEUE|ORDER|PAYMENT|OPERATOR|CATALOG)_WORKERS)$ ]] ||
            grep -qxF -- "${name#SLUICE_}" <<<"$settings" ||
            say "$name in the environment is not a setting and has no effect: scripts/run --help and docs/settings.md list all"
    done
}

# make_pool_socket_dir: only nginx's workers may connect to the pools.
make_pool_socket_dir()
{
    mkdir -m 700 "$run_dir/fcgi"
    if is_root; then
        # The board creates the socket to which nginx reports the load of the site behind the gate.
        chown "${program_user:-root}:$nginx_group" "$run_dir/fcgi"
        chmod 710 "$run_dir/fcgi"
    fi
}

# copy_waiting_page: gives it a name without unusual characters, and keeps it unchanged until the
# next start.
copy_waiting_page()
{
    cp -R -- "$project_root/web/waiting-room" "$run_dir/waiting-room"
    chmod -R a+rX "$run_dir/waiting-room"
}

# make_board_dir: nginx's workers read there.
make_board_dir()
{
    mkdir "$run_dir/board"
    chmod 755 "$run_dir/board"
    share_with_programs 775 "$run_dir/board"
}

# start_pool NAME: starts a socket and its processes.
start_pool()
{
    local name=$1 workers owner=() by_program=()
    if [[ -n $program_user ]]; then
        by_program=(/usr/bin/"${as_program[0]}" "${as_program[@]:1}" setpriv --pdeathsig TERM --)
    fi
    workers=$(pool_workers "$name")
    if is_root; then
        owner=(-G "$nginx_group")
    fi
    # multiwatch stops restarting a child after that many quick deaths; when it has given up on all of them it
    # exits, and supervision continues with backoff. Killing workers by hand must never get that far.
    # spawn-fcgi opens the socket as our user. A change of user clears the parent death signal, so it is set again.
    spawn "$name-pool" TERM \
        spawn-fcgi -s "$run_dir/fcgi/$name.sock" -b "$pool_backlog" -M 0660 "${owner[@]}" -n -- \
        "${by_program[@]}" /usr/bin/multiwatch -f "$workers" -r 1000 -t 1000 -s TERM -- \
        "$build_dir/sluice-fcgi" --pool "$name" --config "$settings_file"
}

start_queue_pool()
{
    start_pool queue
}

start_order_pool()
{
    start_pool order
}

start_payment_pool()
{
    start_pool payment
}

start_operator_pool()
{
    start_pool operator
}

start_catalog_pool()
{
    start_pool catalog
}

# spawn_program NAME COMMAND...: starts a part that runs as our programs do.
spawn_program()
{
    local name=$1
    shift
    spawn "$name" TERM "${as_program[@]}" setpriv --pdeathsig TERM -- "$@"
}

start_scheduler()
{
    spawn_program scheduler "$build_dir/sluice-scheduler" --config "$settings_file"
}

start_board()
{
    spawn_program board "$build_dir/sluice-board" --config "$settings_file"
}

start_reconcile()
{
    spawn_program reconcile "$build_dir/sluice-reconcile" --every 2 --config "$settings_file"
}

# start_demo: starts simulated shoppers; their status line goes to our standard output.
start_demo()
{
    spawn demo TERM "$build_dir/sluice-shoppers" --url "http://127.0.0.1:$port" --data "$data_dir"
}
