# shellcheck shell=bash
# unprivileged.sh: as whom our programs run where root starts us: a user of this data folder's own, without a name, who may
# read the keys and reach the stores' sockets, and nothing else.

# What comes before a program, so that it runs as that user; nothing where we are not root.
as_program=()
# The user, and the group that may read keys and share memory: another one, since a key that a program's own group may
# read would be refused.
program_user=
program_group=
# Numbers that no distribution gives to anybody: those that systemd takes for services without a user, too.
first_user=61184
first_group=63352
user_numbers=2000

# choose_program_user: after build_dir and run_dir are there. Where that user cannot get to them (a clone below /root, say),
# the programs go on as root.
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

# share_with_programs MODE PATH...: with the group of our programs; as root alone.
share_with_programs()
{
    local mode=$1
    shift
    if [[ -n $program_group ]]; then
        chgrp "$program_group" -- "$@"
        chmod "$mode" -- "$@"
    fi
}

# share_secrets: which a program may read, and not change.
share_secrets()
{
    share_with_programs 710 "$data_dir/secrets"
    local files
    mapfile -t files < <(find "$data_dir/secrets" -maxdepth 1 -type f)
    share_with_programs 640 "${files[@]}"
}
