# shellcheck shell=bash
# quiet_services.sh: keeps the installation of a server package from leaving Debian's server
# running.
#
# Sluice starts private servers. Debian's packages would start and enable system-wide ones, and
# PostgreSQL's would create a cluster "main". Whatever ran or was enabled before stays as it was.

policy_file=/usr/sbin/policy-rc.d
policy_mark='# made by Sluice for the time of an installation'
cluster_dir=/etc/postgresql-common/createcluster.d
cluster_file=$cluster_dir/sluice-no-main-cluster.conf

# enabled_services: every link by which systemd or sysvinit would start something at boot, and the
# aliases that are created by enabling.
enabled_services()
{
    find /etc/systemd/system -type l 2>/dev/null || true
    find /etc/rc[2-5S].d -type l -name 'S*' 2>/dev/null || true
}

# clusters: PostgreSQL's configured clusters, as version/name.
clusters()
{
    find /etc/postgresql -mindepth 2 -maxdepth 2 -type d -printf '%P\n' 2>/dev/null || true
}

# quiet_services_begin DIR: records in DIR what exists, and forbids starts from now on.
quiet_services_begin()
{
    local memory=$1
    enabled_services | sort >"$memory/enabled"
    clusters | sort >"$memory/clusters"

    # An existing policy of the administrator stays; services that it starts are stopped by
    # quiet_services_end.
    if [[ -f $policy_file ]] && grep -qxF "$policy_mark" "$policy_file"; then
        rm -f "$policy_file"
    fi
    if (set -o noclobber && printf '#!/bin/sh\n%s\nexit 101\n' "$policy_mark" >"$policy_file") \
        2>/dev/null; then
        chmod 755 "$policy_file"
    fi

    # Directories created here are listed innermost first, to be removed in that order.
    : >"$memory/made"
    local dir
    for dir in "$cluster_dir" "${cluster_dir%/*}"; do
        [[ -d $dir ]] || printf '%s\n' "$dir" >>"$memory/made"
    done
    mkdir -p "$cluster_dir"
    printf 'create_main_cluster = false\n' >"$cluster_file"
}

# disable_service LINK: undoes one link of enabled_services as its package would.
disable_service()
{
    local link=$1 name=${1##*/}
    if [[ $link == /etc/rc* ]]; then
        name=${name#S[0-9][0-9]}
        update-rc.d "$name" disable >/dev/null 2>&1 || true
    elif command -v systemctl >/dev/null; then
        systemctl disable "$name" >/dev/null 2>&1 || true
    fi
    rm -f "$link"
    if [[ -d /run/systemd/system ]]; then
        systemctl stop "$name" >/dev/null 2>&1 || true
    fi
}

# quiet_services_end DIR: lifts the ban, and disables services enabled since DIR was written.
quiet_services_end()
{
    local memory=$1 item
    if [[ -f $policy_file ]] && grep -qxF "$policy_mark" "$policy_file"; then
        rm -f "$policy_file"
    fi
    rm -f "$cluster_file"
    while read -r item; do
        rmdir "$item" 2>/dev/null || true
    done <"$memory/made"

    while read -r item; do
        disable_service "$item"
    done < <(enabled_services | sort | comm -13 "$memory/enabled" -)
    while read -r item; do
        pg_dropcluster --stop "${item%/*}" "${item#*/}" || true
    done < <(clusters | sort | comm -13 "$memory/clusters" -)
}
