# shellcheck shell=bash
# port.sh: whether a port of the loopback address is free and permitted.

# check_port PORT: exits with one clear sentence if PORT is taken or needs rights we lack.
check_port()
{
    local port=$1 lowest=1024
    if [[ -r /proc/sys/net/ipv4/ip_unprivileged_port_start ]]; then
        read -r lowest </proc/sys/net/ipv4/ip_unprivileged_port_start
    fi
    if ((port < lowest)) && ! is_root; then
        die "port $port needs root's rights; choose one from $lowest upwards with --port"
    fi
    if port_is_taken "$port"; then
        die "port $port is taken by another program; choose another with --port"
    fi
}

# port_is_taken PORT: whether a socket listens there on 127.0.0.1 or on every address.
# Columns of /proc/net/tcp: 2 the local address in hexadecimal, 4 the state (0A: listening).
port_is_taken()
{
    local suffix
    suffix=$(printf ':%04X' "$1")
    cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk -v suffix="$suffix" '
        $4 == "0A" && substr($2, length($2) - 4) == suffix {
            address = substr($2, 1, length($2) - 5)
            if (address == "0100007F" || address ~ /^0+$/ || address ~ /0000FFFF0100007F$/)
                taken = 1
        }
        END { exit !taken }'
}
