# shellcheck shell=bash
# settings_file.sh: reads single settings from the programs' settings file, for scripts that connect to the stores.

# setting_in FILE NAME: its value in the file, empty if it is not set there.
setting_in()
{
    sed -nE "s/^[[:space:]]*$2[[:space:]]*=[[:space:]]*(.*[^[:space:]])[[:space:]]*\$/\\1/p" "$1" | tail -n 1
}

# setting_of FILE NAME: its value, empty if it is not set. The environment overrides the file, as for the programs.
setting_of()
{
    local named=SLUICE_${2^^}
    if [[ -n ${!named:-} ]]; then
        printf '%s' "${!named}"
    else
        setting_in "$1" "$2"
    fi
}

# setting_for FILE NAME PROGRAM: the same, as PROGRAM reads it: {program} is its name. For the owner of the stores, who is no
# program, `-{program}` becomes empty, and a separate {program} becomes `owner`.
setting_for()
{
    local value
    value=$(setting_of "$1" "$2")
    if [[ $3 == owner ]]; then
        value=${value//-\{program\}/}
    fi
    printf '%s' "${value//\{program\}/$3}"
}

# conninfo_of_owner FILE: how the owner of the tables connects to PostgreSQL.
conninfo_of_owner()
{
    setting_for "$1" postgres_conninfo owner
}

# hide_password CONNINFO: sets shown to CONNINFO without its password, and hidden to the password, empty if it has none.
hide_password()
{
    local keyword="^(|.*[[:space:]])password[[:space:]]*=[[:space:]]*('(([^'\\\\]|\\\\.)*)'|([^[:space:]'\\\\]|\\\\.)+)(.*)\$"
    local user='^(postgres(ql)?://[^:/?@]*):([^/?@]*)@(.*)$' parameter='^(postgres(ql)?://.*[?&])password=([^&]*)&?(.*)$'
    shown=$1 hidden=
    if [[ $shown == postgres://* || $shown == postgresql://* ]]; then
        if [[ $shown =~ $user ]]; then
            hidden=${BASH_REMATCH[3]} shown=${BASH_REMATCH[1]}@${BASH_REMATCH[4]}
        elif [[ $shown =~ $parameter ]]; then
            hidden=${BASH_REMATCH[3]} shown=${BASH_REMATCH[1]}${BASH_REMATCH[4]}
        fi
        hidden=${hidden//\\/\\\\}
        printf -v hidden '%b' "${hidden//%/\\x}"
    elif [[ $shown =~ $keyword ]]; then
        hidden=${BASH_REMATCH[3]:-${BASH_REMATCH[2]}} shown="${BASH_REMATCH[1]}${BASH_REMATCH[6]}"
        hidden=$(sed -E 's/\\(.)/\1/g' <<<"$hidden")
    fi
}

# with_conninfo CONNINFO COMMAND...: runs one of PostgreSQL's programs with CONNINFO as its --dbname. Other users can read
# command lines but not the environment: the password goes there.
with_conninfo()
{
    local shown hidden
    hide_password "$1"
    shift
    if [[ -n $hidden ]]; then
        PGPASSWORD=$hidden "$@" --dbname="$shown"
    else
        "$@" --dbname="$shown"
    fi
}
