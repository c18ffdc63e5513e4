# shellcheck shell=bash
# host_parts.sh: the parts of an installed host: whether they accept the settings, whether they serve, and which settings they
# were started with. Uses settings_file.sh.

config=${config:-/etc/sluice/sluice.conf}
local_address_file=/etc/sluice/local-address
# The digest of what all parts were started with; gone after a reboot.
started_with=/run/sluice/started-with
pools=(queue order catalog payment operator)

# user_of UNIT: the user that it runs as.
user_of()
{
    local user
    user=$(systemctl show --property=User --value "$1.service")
    printf '%s' "${user:-${1/pool@/}}"
}

# environment_of UNIT: the settings in its environment, and what libpq reads there (PGSERVICEFILE), each with a NUL behind it.
# systemctl puts a word with special characters in double quotes, and a backslash before some of them.
environment_of()
{
    systemctl show --property=Environment --value "$1.service" |
        grep --null-data --only-matching --extended-regexp '("([^"\\]|\\.)*"|[^"[:space:]])+' |
        sed --null-data --regexp-extended 's/^"(.*)"$/\1/; s/\\(.)/\1/g' |
        grep --null-data --extended-regexp '^(SLUICE_|PG)' || true
}

# accepts_settings UNIT PROGRAM...: whether the program accepts them as the unit's user and with its environment,
# not with ours: SLUICE_ADMIN_KEY_FILE names sluicectl's key in it. Sets refusal.
accepts_settings()
{
    local unit=$1 environment
    shift
    mapfile -d '' environment < <(environment_of "$unit")
    refusal=$(runuser -u "$(user_of "$unit")" -- env -i "PATH=$PATH" "${environment[@]}" "$@" --check-config --config "$config" 2>&1) || {
        refusal="$unit: $refusal"
        return 1
    }
}

# all_accept_settings: whether every part does. Sets refusal to what the first one says that does not.
all_accept_settings()
{
    local pool program
    for pool in "${pools[@]}"; do
        accepts_settings "sluice-pool@$pool" sluice-fcgi --pool "$pool" || return 1
    done
    for program in sluice-scheduler sluice-board sluice-reconcile; do
        accepts_settings "$program" "$program" || return 1
    done
}

# site_is_ready: asks through nginx, as the load balancer does.
site_is_ready()
{
    [[ $(curl --silent --insecure --location --noproxy '*' --max-time 3 --output /dev/null \
        --write-out '%{http_code}' http://127.0.0.1/readyz) == 200 ]]
}

# local_address: where nginx serves this host's own sluicectl; empty if it does not.
local_address()
{
    local address=127.0.0.1:280
    [[ ! -s $local_address_file ]] || read -r address <"$local_address_file" || true
    # grep reads all of it: nginx must not end by SIGPIPE.
    if nginx -T 2>/dev/null | grep -F "listen $address;" >/dev/null; then
        printf '%s' "$address"
    fi
}

# answers STATUS METHOD URL [HEADER]: the header goes by standard input, where no other user can see it.
answers()
{
    [[ $(printf '%s\n' "${4:-Accept: */*}" | curl --silent --noproxy '*' --max-time 3 --output /dev/null --header @- \
        --request "$2" --write-out '%{http_code}' "$3") == "$1" ]]
}

# operator_key: the first one in the operators' file; nothing if there is none. In our environment the setting's name has another
# meaning: SLUICE_ADMIN_KEY_FILE is sluicectl's key.
operator_key()
{
    local file
    file=$(setting_in "$config" admin_key_file)
    if [[ -r $file ]]; then
        grep -m 1 '^[^#]' -- "$file" || true
    fi
}

# pool_serves POOL ADDRESS: whether a worker of the pool answers as it should.
pool_serves()
{
    local key
    case $1 in
        queue) answers 200 GET "http://$2/livez" ;;
        order) answers 200 GET "http://$2/readyz" ;;
        catalog) answers 200 GET "http://$2/v1/concerts" ;;
        # Without a login it answers 401; any other answer comes from nginx.
        payment) answers 401 POST "http://$2/v1/orders/o_AAAAAAAAAAAAAAAAAAAAAA/cancel" ;;
        operator)
            key=$(operator_key)
            if [[ -n $key ]]; then
                answers 200 GET "http://$2/v1/admin/queues" "Authorization: Bearer $key"
            else
                answers 401 GET "http://$2/v1/admin/queues"
            fi
            ;;
    esac
}

# wait_until_ready SECONDS: until the site is ready and each pool serves; dies if that takes longer. The site may send the pools'
# own paths elsewhere: they are asked at the local address alone.
wait_until_ready()
{
    local deadline=$((SECONDS + $1)) address pool
    until site_is_ready; do
        ((SECONDS < deadline)) || die "not ready within $1 s; see: journalctl -u 'sluice-*'"
        sleep 0.5
    done
    address=$(local_address)
    for pool in "${pools[@]}"; do
        if [[ -z $address ]]; then
            systemctl is-active --quiet "sluice-pool@$pool.service" ||
                die "the $pool pool does not run; see: journalctl -u sluice-pool@$pool"
            continue
        fi
        until pool_serves "$pool" "$address"; do
            ((SECONDS < deadline)) || die "the $pool pool does not serve at $address after $1 s;" \
                "see: journalctl -u sluice-pool@$pool, and nginx's error log"
            sleep 0.5
        done
    done
}

# digest_of_installed: of the release and the settings files.
digest_of_installed()
{
    local program
    {
        dpkg-query --show sluice || true
        for program in sluice-fcgi sluice-scheduler sluice-board sluice-reconcile; do
            cat -- "$(type -P "$program")" || true
        done
        cat -- "$config" /etc/sluice/pools.conf || true
    } 2>/dev/null | sha256sum
}

# remember_started DIGEST: all parts have been started with this.
remember_started()
{
    (umask 077 && printf '%s\n' "$1" >"$started_with")
}

# are_started_with DIGEST
are_started_with()
{
    [[ -r $started_with && $(<"$started_with") == "$1" ]]
}
