# shellcheck shell=bash
# secrets.sh: random keys generated on the first start and kept on every later one.

# random_base64url BYTES: that many random bytes as URL-safe base64 without padding.
random_base64url()
{
    local text
    text=$(openssl rand -base64 "$1")
    text=${text//[$'\n'=]/}
    text=${text//+/-}
    printf '%s' "${text//\//_}"
}

# keep_secret_at FILE TEXT-COMMAND...: writes the command's output to FILE unless it exists.
# Written to a temporary file and renamed: a start that is killed here leaves no incomplete secret.
keep_secret_at()
{
    local file=$1
    shift
    if [[ ! -s $file ]]; then
        (umask 077 && "$@" >"$file.new")
        mv -- "$file.new" "$file"
    fi
    chmod 600 "$file"
}

# keep_secret NAME TEXT-COMMAND...: the same in data_dir/secrets.
keep_secret()
{
    local name=$1
    shift
    keep_secret_at "${data_dir:?}/secrets/$name" "$@"
}

# print_key: one random secret as a line.
print_key()
{
    printf '%s\n' "$(random_base64url 32)"
}

# print_key_set: a key file with one key, `kid:secret`; further lines may be added for rotation.
print_key_set()
{
    printf '%s:%s\n' "$(openssl rand -hex 4)" "$(random_base64url 32)"
}

# redis_users: the users whose passwords scripts/redis-acl needs, as parts of their files' names.
redis_users()
{
    sed -nE 's/^([a-z]+):.*/\1/p' "${project_root:?}/lua/rights.tbl" | grep -vx all
}

make_secrets()
{
    local program
    keep_secret redis.key print_key
    for program in $(redis_users); do
        keep_secret "redis-$program.key" print_key
    done
    keep_secret admin.key print_key
    keep_secret viewer.key print_key
    keep_secret member-jwt.key print_key
    keep_secret queue-ticket.keys print_key_set
    keep_secret visitor.keys print_key_set
    keep_secret altcha.keys print_key_set
    keep_secret payment-simulator.key print_key
}
