# shellcheck shell=bash
# packages.sh: every Debian package that the project needs, by group, with its purpose.
#
# build: to compile.  run: what scripts/run starts or calls.  test: what scripts/test and lint call.
# bench: what scripts/bench calls besides.

package_table()
{
    cat <<'TABLE'
build gcc                    C compiler
build libc6-dev              C library headers
build make                   builds
build autoconf               makes configure
build automake               makes Makefile.in
build pkg-config             finds libraries
build libfcgi-dev            FastCGI
build libhiredis-dev         Redis client
build libpq-dev              PostgreSQL client
build libjson-c-dev          JSON
build libssl-dev             signatures and random numbers
build libcmocka-dev          unit tests
build libcurl4-openssl-dev   HTTP client
build liblmdb-dev            the catalogue in the host's memory
run   redis-server           queues
run   redis-tools            redis-cli, to stop Redis in order
run   nginx                  web server
run   spawn-fcgi             opens the worker pools' sockets
run   multiwatch             keeps a pool's workers alive
run   postgresql-15          orders
run   postgresql-client-15   psql, for migrations
run   procps                 pkill, to end a part with all its children
run   util-linux             flock, setsid and setpriv
run   curl                   asks whether everything serves
run   openssl                makes secrets
run   python3                the payment simulator
test  python3-pytest         test runner
test  python3-redis          Redis from tests
test  python3-psycopg2       PostgreSQL from tests
test  python3-aiohttp        many clients at once
test  faketime               workers with wrong clocks
test  groff-base             man pages
test  iproute2               machines of their own, in network namespaces
test  binutils               readelf, for how programs were built
test  python3-cryptography   keys of every kind for token tests
test  python3-jsonschema     answers held against the API document
test  python3-yaml           reading the API document
test  spin                   explores the model of the protocol
test  lua-check              Lua lint
test  shellcheck             shell lint
test  clang-format           C layout
test  cppcheck               C lint
test  clang-tidy             C lint
test  clang                  compiles the fuzzers
test  libclang-rt-14-dev     libFuzzer and its sanitizers
test  chromium               browser tests
test  fonts-nanum            Korean letters in their pictures
test  nodejs                 drives Chromium
test  prometheus             promtool, which checks and tries the alert rules
test  npm                    installs the driver from tests/package-lock.json
bench valgrind               counts instructions
TABLE
}

# package_groups: the groups' names, one a line.
package_groups()
{
    package_table | awk '!seen[$1]++ { print $1 }'
}

# packages_of GROUP...: the names of the packages of these groups, one a line.
packages_of()
{
    package_table | awk -v wanted=" $* " 'index(wanted, " " $1 " ") { print $2 }'
}

# purpose_of PACKAGE: what a package is for, in a few words.
purpose_of()
{
    package_table | awk -v name="$1" '$2 == name { sub(/^[^ ]+ +[^ ]+ +/, ""); print; exit }'
}

# node_is_recent: whether the node on PATH satisfies tests/package.json.
node_is_recent()
{
    local version
    version=$(node --version 2>/dev/null) && [[ $version =~ ^v([0-9]+)\. ]] &&
        ((BASH_REMATCH[1] >= 18))
}

# is_there_otherwise PACKAGE: whether this machine has the package's content from another source.
# Node is often installed from its vendor, with npm in the same package, and Debian's would
# conflict. Any other font with Korean letters will do.
is_there_otherwise()
{
    case $1 in
        nodejs) node_is_recent ;;
        npm) command -v npm >/dev/null ;;
        fonts-nanum) [[ -n $(fc-list :lang=ko family 2>/dev/null) ]] ;;
        *) return 1 ;;
    esac
}

# missing_packages GROUP...: the packages that this machine lacks, one a line.
missing_packages()
{
    local name
    while read -r name; do
        is_there_otherwise "$name" || printf '%s\n' "$name"
    done < <(packages_not_installed "$@")
}

# packages_not_installed GROUP...: those not installed according to dpkg, one a line.
packages_not_installed()
{
    local wanted
    mapfile -t wanted < <(packages_of "$@")
    # dpkg-query fails if one of them is unknown, but still lists the others.
    { dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true; } |
        awk -v wanted="${wanted[*]}" '
            $1 == "installed" { there[$2] = 1 }
            END {
                count = split(wanted, name, " ")
                for (i = 1; i <= count; i++)
                    if (!(name[i] in there))
                        print name[i]
            }'
}
