# shellcheck shell=bash
# data_dir.sh: the folder with all data of scripts/run, and the short private folder in /run
# or /tmp that holds the sockets. Sets data_dir, run_dir and lock_fd.

# Programs that may be left over from an earlier run; no others are ever killed. Debian's redis-server
# is a link to redis-check-rdb.
own_programs=' redis-server redis-check-rdb postgres nginx spawn-fcgi multiwatch sluice-fcgi sluice-scheduler
 sluice-board sluice-reconcile sluice-shoppers '

# open_data_dir DIR: creates DIR if needed and locks it, or exits with one clear sentence.
open_data_dir()
{
    data_dir=$(realpath -m -- "$1")
    [[ $data_dir != *[[:cntrl:]]* ]] || die "the name of the data folder contains a control character"
    if [[ -e $data_dir && ! -d $data_dir ]]; then
        die "--data $data_dir is not a folder"
    fi
    if [[ ! -d $data_dir ]]; then
        # 711: as root, PostgreSQL's user must be able to reach its own folder below.
        { mkdir -p -- "${data_dir%/*}/" && mkdir -m 711 -- "$data_dir"; } 2>/dev/null ||
            die "the data folder $data_dir cannot be created: no permission to write there"
    fi
    [[ -w $data_dir && -x $data_dir ]] || die "no permission to write in the data folder $data_dir"

    { exec {lock_fd}>>"$data_dir/run.lock"; } 2>/dev/null ||
        die "the data folder $data_dir belongs to another user; run as that user, or choose another --data"
    flock --nonblock "$lock_fd" || die "another scripts/run is using the data folder $data_dir"

    local folder
    for folder in secrets redis logs; do
        if [[ ! -d $data_dir/$folder ]]; then
            mkdir -m 700 -- "$data_dir/$folder"
        fi
        [[ -O $data_dir/$folder && -w $data_dir/$folder ]] ||
            die "the data folder $data_dir belongs to another user; run as that user, or choose another --data"
    done
}

# own_processes PLACE: pids of our programs whose working directory is PLACE, is in it, or is one of
# the database folders. Every part is started there, and the name of PLACE is unique.
own_processes()
{
    local place=$1 pid cwd exe
    while IFS=$'\t' read -r pid cwd; do
        cwd=${cwd% (deleted)}
        case $cwd/ in
            "$place"/* | "$data_dir"/redis/* | "$data_dir"/postgres/*) ;;
            *) continue ;;
        esac
        exe=$(readlink "/proc/$pid/exe" 2>/dev/null) || continue
        exe=${exe% (deleted)}
        if [[ $own_programs == *[[:space:]]"${exe##*/}"[[:space:]]* ]]; then
            printf '%s\n' "$pid"
        fi
    done < <(find_working_folders)
    confined_processes "$place"
}

# confined_processes PLACE: our programs that hide from inspection (lib/base/sandbox.h): they are recognized by their command
# lines, which name the settings file in PLACE.
confined_processes()
{
    local place=$1 file pid words
    while IFS= read -r file; do
        pid=${file#/proc/}
        pid=${pid%/cmdline}
        if [[ ! -r /proc/$pid/cwd/. ]] && mapfile -d '' -t words <"$file" 2>/dev/null &&
            [[ ${#words[@]} -gt 0 && $own_programs == *[[:space:]]"${words[0]##*/}"[[:space:]]* ]]; then
            printf '%s\n' "$pid"
        fi
    done < <(grep --files-with-matches --text --fixed-strings -- "$place/data/sluice.conf" /proc/[0-9]*/cmdline 2>/dev/null || true)
}

# find_working_folders: lists each process and its working directory.
find_working_folders()
{
    find /proc -mindepth 2 -maxdepth 2 -path '/proc/[0-9]*' -name cwd \
        -printf '%h\t%l\n' 2>/dev/null | sed 's|^/proc/||'
}

# end_own_processes PLACE: sends TERM (for PostgreSQL INT, its fast shutdown), and KILL after 10 s.
end_own_processes()
{
    local place=$1 pid left deadline
    now_ms
    deadline=$((now + 10000))
    mapfile -t left < <(own_processes "$place")
    [[ ${#left[@]} -gt 0 ]] || return 0
    for pid in "${left[@]}"; do
        if [[ $(readlink "/proc/$pid/exe" 2>/dev/null) == */postgres ]]; then
            kill -INT "$pid" 2>/dev/null || true
        else
            kill -TERM "$pid" 2>/dev/null || true
        fi
        # A stopped process would not handle it.
        kill -CONT "$pid" 2>/dev/null || true
    done
    while [[ ${#left[@]} -gt 0 ]]; do
        tick 0.1
        now_ms
        if ((now > deadline)); then
            kill -KILL "${left[@]}" 2>/dev/null || true
        fi
        mapfile -t left < <(own_processes "$place")
    done
}

# The pattern of the names that make_run_dir creates.
run_dir_pattern='^/(run|tmp)/sluice\.[A-Za-z0-9]{6}$'

# is_own_place PATH: whether PATH is a folder that make_run_dir created for this user.
is_own_place()
{
    [[ $1 =~ $run_dir_pattern && -d $1 && ! -L $1 && -O $1 ]]
}

# clean_up_after_kill: ends the leftovers of a run that was killed, and removes its folder.
clean_up_after_kill()
{
    local place=
    if [[ -s $data_dir/run.place ]]; then
        read -r place <"$data_dir/run.place" || true
    fi
    if [[ -n $(own_processes "${place:-/nonexistent}") ]]; then
        say "ending what an earlier run on $data_dir left behind"
        end_own_processes "${place:-/nonexistent}"
    fi
    if is_own_place "$place"; then
        rm -rf -- "$place"
        remove_memory_of "$place"
    fi
    rm -f "$data_dir/run.place"
}

# make_run_dir: creates the folder for sockets and rendered files. Its name is short, since a socket's path
# is limited to 107 bytes and data_dir may be deep; data_dir is reached through links in it, which also
# avoids quoting unusual names in configuration files.
# As root it is in /run, where no other user can create one of its name while Sluice is down, and it keeps the
# name of the last run, as another nginx may be configured with its sockets.
make_run_dir()
{
    local last=
    run_dir=
    if is_root && [[ -w /run ]]; then
        if [[ -s $data_dir/run.name ]]; then
            read -r last <"$data_dir/run.name" || true
        fi
        if [[ $last == /run/* && $last =~ $run_dir_pattern ]] && mkdir -m 700 "$last" 2>/dev/null; then
            run_dir=$last
        elif run_dir=$(mktemp -d /run/sluice.XXXXXX 2>/dev/null) && [[ -n $last ]]; then
            say "$last cannot be used again: reload each nginx that includes $data_dir/gate"
        fi
    fi
    [[ -n $run_dir ]] || run_dir=$(mktemp -d /tmp/sluice.XXXXXX) ||
        die "no permission to create a folder in /tmp"
    printf '%s\n' "$run_dir" >"$data_dir/run.name"
    printf '%s\n' "$run_dir" >"$data_dir/run.place"
    # systemd-tmpfiles skips a locked folder, however old its files are.
    exec {place_fd}<"$run_dir"
    flock --shared "$place_fd"
    # As root, nginx's workers and PostgreSQL run as their own users and must be able to enter.
    if is_root; then
        chmod 711 "$run_dir"
    fi
    ln -s -- "$data_dir" "$run_dir/data"
}

# make_memory_dir: creates run_dir/memory, for the programs' shared memory: on a tmpfs if there is one, under the unique name
# of run_dir.
make_memory_dir()
{
    local place=/dev/shm/${run_dir##*/}
    remove_memory_of "$run_dir"
    if [[ $(stat -f -c %T /dev/shm 2>/dev/null) == tmpfs ]] && mkdir -m 700 "$place" 2>/dev/null; then
        ln -s -- "$place" "$run_dir/memory"
    else
        mkdir -m 700 "$run_dir/memory"
    fi
}

# remove_memory_of RUN_DIR: removes what make_memory_dir created there.
remove_memory_of()
{
    local place=/dev/shm/${1##*/}
    if [[ $1 =~ $run_dir_pattern && -d $place && ! -L $place && -O $place ]]; then
        rm -rf -- "$place"
    fi
}

# remove_run_dir: removes it, and ends everything that still runs in it.
remove_run_dir()
{
    [[ -n ${run_dir:-} ]] || return 0
    end_own_processes "$run_dir"
    if is_own_place "$run_dir"; then
        rm -rf -- "$run_dir"
        remove_memory_of "$run_dir"
    fi
    rm -f "$data_dir/run.place"
    run_dir=
}
