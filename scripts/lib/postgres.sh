# shellcheck shell=bash
# postgres.sh: a private PostgreSQL server on a Unix socket, kept under data_dir/postgres.

postgres_programs=/usr/lib/postgresql/15/bin
# The command before PostgreSQL's programs that runs them as the right user.
as_postgres=()

# choose_postgres_user: PostgreSQL refuses to run as root, so root runs it as the owner of its
# folder, initially the user `postgres`. That user may be unable to enter the folders above (below
# /root, say); then it gets the one capability that allows it.
choose_postgres_user()
{
    local folder=$1 owner
    if ! is_root; then
        [[ -O $folder ]] || die "the database in $folder belongs to another user"
        return 0
    fi
    owner=$(stat -c %U -- "$folder")
    [[ $owner != root ]] || die "the database in $folder belongs to root, as whom PostgreSQL refuses to run"
    as_postgres=(setpriv --reuid "$owner" --regid "$(id -g "$owner")" --init-groups)
    # Not `test -w`: access(2) ignores capabilities.
    if ! "${as_postgres[@]}" -- stat "$folder/." >/dev/null 2>&1; then
        as_postgres+=(--inh-caps +dac_read_search --ambient-caps +dac_read_search)
        "${as_postgres[@]}" -- stat "$folder/." >/dev/null 2>&1 ||
            die "the user $owner, as whom PostgreSQL runs, cannot reach $data_dir;" \
                "choose with --data a folder that everyone may pass through"
    fi
    as_postgres+=(--)
}

# make_database_folder: runs initdb under a temporary name, renamed when complete: a killed start
# leaves no incomplete database.
make_database_folder()
{
    local folder=$data_dir/postgres version
    if [[ ! -d $folder ]]; then
        rm -rf -- "$folder.new"
        mkdir -m 700 -- "$folder.new"
        if is_root; then
            chown postgres:postgres -- "$folder.new"
        fi
        choose_postgres_user "$folder.new"
        run_step "${as_postgres[@]}" "$postgres_programs/initdb" --pgdata="$run_dir/data/postgres.new" \
            --username=postgres --auth=trust --encoding=UTF8 --locale=C.UTF-8 --data-checksums \
            >>"$data_dir/logs/postgres.log" 2>&1 ||
            fail_part postgres "could not create its data folder"
        mv -- "$folder.new" "$folder"
    else
        choose_postgres_user "$folder"
    fi
    read -r version <"$folder/PG_VERSION" || version=unknown
    [[ $version == 15 ]] || die "the database in $folder is of PostgreSQL $version, not of 15"
    # We hold the lock on data_dir and ended what was left: another process has reused this pid.
    rm -f -- "$folder/postmaster.pid"
}

# make_postgres_socket_dir: PostgreSQL trusts every user who can enter this folder, so no others
# may.
make_postgres_socket_dir()
{
    mkdir -m 700 "$run_dir/pg"
    if is_root; then
        chown "$(stat -c %U:%G -- "$data_dir/postgres")" "$run_dir/pg"
        share_with_programs 710 "$run_dir/pg"
    fi
}

start_postgres()
{
    # The capability survives the change of user only in this order: user first, then the signal.
    spawn postgres INT "${as_postgres[@]}" setpriv --pdeathsig INT -- \
        "$postgres_programs/postgres" -D "$run_dir/data/postgres" \
        -c listen_addresses= \
        -c "unix_socket_directories=$run_dir/pg" \
        -c fsync=on \
        -c max_connections=100 \
        -c log_line_prefix='%m [%p] %q%u@%d '
}

postgres_answers()
{
    pg_isready --quiet --host "$run_dir/pg" --timeout 2
}

# as_superuser OPTION...: psql with unadorned output.
as_superuser()
{
    PGCONNECT_TIMEOUT=5 psql --no-psqlrc --quiet --no-align --tuples-only --host "$run_dir/pg" \
        --username postgres --dbname postgres "$@"
}

# make_database: creates the programs' roles and the database `sluice`, as far as they are missing.
make_database()
{
    as_superuser --file "$project_root/sql/roles.sql"
    if [[ $(as_superuser --command "SELECT count(*) FROM pg_database WHERE datname = 'sluice'") == 0 ]]; then
        as_superuser --command 'CREATE DATABASE sluice OWNER sluice'
    fi
}

# stop_postgres: fast shutdown: rolls running transactions back and writes everything to disk.
stop_postgres()
{
    stop_part postgres INT 30
}
