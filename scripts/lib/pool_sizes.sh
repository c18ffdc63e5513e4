# shellcheck shell=bash
# pool_sizes.sh: how many processes each pool of workers has, unless SLUICE_<POOL>_WORKERS says otherwise.

# A socket holds so many waiting connections, nginx's and the pools': at an opening thousands come within a moment. The
# kernel allows no more than somaxconn.
# shellcheck disable=SC2034 # read by the scripts that source this file
pool_backlog=4096

# at_most A B: the smaller one.
at_most()
{
    printf '%s' "$(($1 < $2 ? $1 : $2))"
}

# pool_workers POOL: the number on this machine; fails for a pool that there is not.
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
        # One database connection a worker. They wait for the disk, and what commits together waits once: with eight instead of
        # four on two cores seats and coupons break a third later, while orders of one product, whose row all want, lose a tenth.
        order) at_most "$((cores * 4))" 8 ;;
        # A worker waits for the provider most of the time, so these are more than the database would bear at once.
        payment) printf '8' ;;
        # Operators get through while orders are slow, and while another one's plan of 50,000 seats is stored.
        operator) printf '2' ;;
        # Reading is quick, and may take nothing away from those who order.
        catalog) at_most "$((cores * 2))" 8 ;;
        *) return 1 ;;
    esac
}

# check_pool_sizes: a wrong size is named here, in one sentence, and not by whoever keeps the workers.
check_pool_sizes()
{
    local pool named
    for pool in queue order payment catalog operator; do
        named=SLUICE_${pool^^}_WORKERS
        [[ ${!named:-1} =~ ^[1-9][0-9]{0,2}$ ]] || usage_error "$named must be a number from 1 to 999, not '${!named}'"
    done
}
