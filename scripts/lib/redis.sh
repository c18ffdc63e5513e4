# shellcheck shell=bash
# redis.sh: a private Redis server on a Unix socket, kept under data_dir/redis.

# Each program is a user of its own there, with the commands that it needs (lua/rights.tbl). A client that gets into the
# socket's folder without logging in is one of our own scripts, and may do everything.
write_redis_config()
{
    {
        printf 'user default on nopass ~* &* +@all\n'
        "$project_root/scripts/redis-acl" "$data_dir/secrets" | sed '1d'
    } >"$run_dir/redis.acl"
    cat >"$run_dir/redis.conf" <<CONF
port 0
unixsocket $run_dir/redis.sock
unixsocketperm $([[ -n $program_group ]] && printf 660 || printf 600)
aclfile $run_dir/redis.acl
dir $run_dir/data/redis
daemonize no
# Places in line must survive a crash: at most the last second of writes may be lost.
appendonly yes
appendfsync everysec
# A queue must never lose a member because memory is short: writes fail instead.
maxmemory-policy noeviction
maxmemory $(redis_memory_limit)
CONF
}

start_redis()
{
    local for_programs=()
    # Its socket gets the group.
    if [[ -n $program_group ]]; then
        for_programs=(setpriv --regid "$program_group" --keep-groups -- setpriv --pdeathsig TERM --)
    fi
    spawn redis TERM "${for_programs[@]}" redis-server "$run_dir/redis.conf"
}

# redis_answers: whether it has loaded its files and accepts commands.
redis_answers()
{
    [[ $(timeout 2 redis-cli -s "$run_dir/redis.sock" PING 2>/dev/null) == PONG ]]
}

# stop_redis: saves everything to disk first. Nothing writes any more, so the last write proves that all before it is
# there: a Redis that had lost its end would still have its tenures (docs/ops/redis.md), and be recovered.
stop_redis()
{
    if part_lives redis; then
        timeout 5 redis-cli -s "$run_dir/redis.sock" DEL sluice:tenures >/dev/null 2>&1 || true
        timeout 20 redis-cli -s "$run_dir/redis.sock" SHUTDOWN SAVE >/dev/null 2>&1 || true
    fi
    stop_part redis TERM 20
}
