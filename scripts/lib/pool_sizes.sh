# shellcheck shell=bash
# pool_sizes.sh: the number of processes of each pool of workers, unless SLUICE_<POOL>_WORKERS is set.

# The backlog of a socket, nginx's and the pools': at an opening thousands of connections arrive within a moment. The
# kernel allows no more than somaxconn.
# shellcheck disable=SC2034 # read by the scripts that source this file
pool_backlog=4096

# at_most A B: the smaller one.
at_most()
{
    printf '%s' "$(($1 < $2 ? $1 : $2))"
}

# pool_workers POOL: the number on this machine; fails for an unknown pool.
pool_workers()
{
    local cores named
    cores=$(nproc)
    named=SLUICE_${1^^}_WORKERS
    if [[ $1 =~ ^(order|payment|catalog|queue|operator)$ && -n ${!named:-} ]]; then
        printf '%s' "${!named}"
        return 0
    fi
    case $1 in
        # Event-driven: one a core.
        queue) printf '%s' "$cores" ;;
        # One database connection a worker. They wait for the disk, and concurrent commits share one wait: with eight instead of
        # four on two cores seats and coupons reach a third more, while orders of one product, which contend for its row, lose a
        # tenth.
        order) at_most "$((cores * 4))" 8 ;;
        # A worker waits for the provider most of the time, so there are more than concurrent queries would allow.
        payment) printf '8' ;;
        # Operators are served while orders are slow, and while another one's plan of 50,000 seats is being stored.
        operator) printf '2' ;;
        # Reads are quick, and must not take capacity from orders.
        catalog) at_most "$((cores * 2))" 8 ;;
        *) return 1 ;;
    esac
}

# check_pool_sizes: reports a wrong size here, in one sentence, instead of leaving it to multiwatch.
check_pool_sizes()
{
    local pool named
    for pool in queue order payment catalog operator; do
        named=SLUICE_${pool^^}_WORKERS
        [[ ${!named:-1} =~ ^[1-9][0-9]{0,2}$ ]] || usage_error "$named must be a number from 1 to 999, not '${!named}'"
    done
}
