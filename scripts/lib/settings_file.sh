# shellcheck shell=bash
# settings_file.sh: reads single settings from the file of the programs, for scripts that speak to the stores themselves.

# setting_of FILE NAME: its value, empty where it is not set. The environment comes before the file, as for the programs.
setting_of()
{
    local named=SLUICE_${2^^}
    if [[ -n ${!named:-} ]]; then
        printf '%s' "${!named}"
    else
        sed -nE "s/^[[:space:]]*$2[[:space:]]*=[[:space:]]*(.*[^[:space:]])[[:space:]]*\$/\\1/p" "$1" | tail -n 1
    fi
}
