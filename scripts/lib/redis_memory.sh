# shellcheck shell=bash
# redis_memory.sh: how much memory a Redis may use that shares its machine with PostgreSQL and the programs.

# redis_memory_limit: the value of maxmemory: two fifths of the machine's memory. Without a limit the kernel kills Redis when memory
# is short; and rewriting the append-only file can take as much again.
redis_memory_limit()
{
    local kib container
    kib=$(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo)
    container=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || true)
    if [[ $container =~ ^[0-9]+$ ]] && ((container / 1024 < kib)); then
        kib=$((container / 1024))
    fi
    printf '%dmb' "$((kib * 2 / 5 / 1024))"
}
