# shellcheck shell=bash
# common.sh: shared by all scripts: the project's root, messages and errors.

# Programs parse each other's output below: one locale for all of them, which Debian always has.
export LC_ALL=C.UTF-8

# Users other than root have no nginx on Debian's PATH.
if [[ :$PATH: != *:/usr/sbin:* ]]; then
    export PATH=$PATH:/usr/sbin:/sbin
fi

# shellcheck disable=SC2034 # read by the scripts that source this file
project_root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
program_name=${0##*/}

# say TEXT...: prints one line for the person at the terminal. Standard output stays free for
# results.
say()
{
    printf '%s: %s\n' "$program_name" "$*" >&2
}

# die TEXT...: prints the reason, and exits with 1.
die()
{
    say "$*"
    exit 1
}

# usage_error TEXT...: reports an error in the command line, and exits with 64.
usage_error()
{
    say "$* (see $program_name --help)"
    exit 64
}

# print_usage: prints the comment at the head of the running script. Installed, scripts/NAME and packaging/NAME are
# sluice-NAME.
print_usage()
{
    awk -v installed="$([[ $program_name != sluice-* ]] || printf 1)" '
        NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); if (installed) gsub(/(scripts|packaging)\//, "sluice-"); print }' "$0"
}

# is_root: whether the script runs as root.
is_root()
{
    [[ $EUID -eq 0 ]]
}

# close_extra_files: closes every descriptor above 2 that this shell inherited or opened.
# A child that outlives us must not keep a lock that only we should hold.
close_extra_files()
{
    local link number
    for link in /proc/"$BASHPID"/fd/*; do
        number=${link##*/}
        if [[ $number -gt 2 && $number -ne 255 ]]; then
            eval "exec $number>&-"
        fi
    done
}
