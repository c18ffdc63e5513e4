# shellcheck shell=bash
# unprivileged.sh: the user that runs our programs if root starts us: one per data folder, without a name, who may
# read the keys and connect to the stores' sockets, and nothing else.

# The command before a program that runs it as that user; empty if we are not root.
as_program=()
# The user, and the group that may read keys and share memory: a separate one, since a key that a program's own group may
# read would be refused.
program_user=
program_group=
# Numbers that no distribution assigns, nor systemd to services without a user.
first_user=61184
first_group=63352
user_numbers=2000

# choose_program_user: after build_dir and run_dir exist. If that user cannot enter them (a clone below /root, say),
# the programs run as root.
choose_program_user()
{
    local number
    is_root || return 0
    number=$(printf '%s' "$data_dir" | cksum)
    number=$((${number%% *} % user_numbers))
    program_user=$((first_user + number))
    program_group=$((first_group + number))
    as_program=(setpriv --reuid "$program_user" --regid "$program_user" --groups "$program_group" --)
    if ! "${as_program[@]}" test -x "$build_dir/sluice-fcgi" 2>/dev/null ||
        ! "${as_program[@]}" stat "$run_dir/data/." >/dev/null 2>&1; then
        say "the programs run as root: another user cannot get to $build_dir and $data_dir;" \
            "put them where everyone may pass through"
        as_program=() program_user='' program_group=''
    fi
}

# share_with_programs MODE PATH...: gives access to the group of our programs; only as root.
share_with_programs()
{
    local mode=$1
    shift
    if [[ -n $program_group ]]; then
        chgrp "$program_group" -- "$@"
        chmod "$mode" -- "$@"
    fi
}

# share_secrets: makes the secrets readable for programs, but not writable.
share_secrets()
{
    share_with_programs 710 "$data_dir/secrets"
    local files
    mapfile -t files < <(find "$data_dir/secrets" -maxdepth 1 -type f)
    share_with_programs 640 "${files[@]}"
}
