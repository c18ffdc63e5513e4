# shellcheck shell=bash
# nginx.sh: a private nginx: its configuration from the templates in nginx/, its static pages.

nginx_user=www-data
nginx_group=www-data

# render FILE NAME=VALUE...: prints FILE with each @NAME@ replaced. Values hold no '|' and no newline.
render()
{
    local file=$1 pair program=()
    shift
    for pair in "$@"; do
        program+=(-e "s|@${pair%%=*}@|${pair#*=}|g")
    done
    sed "${program[@]}" "$file"
}

# write_nginx_config: renders everything into run_dir/nginx. Copied, not read from the clone, which
# nginx's user may not be able to reach.
write_nginx_config()
{
    local place=$run_dir/nginx file user_line='' files connections most_waiting
    mkdir -p "$place/snippets" "$place/web/problems" "$place/tmp"
    files=$(ulimit -n)
    [[ $files != unlimited && $files -le 65536 ]] || files=65536
    # Every client may need a connection to a worker too.
    connections=$(((files - 64) / 2))
    if is_root; then
        user_line="user $nginx_user $nginx_group;"
    fi
    # Orders beyond that wait in vain, and a full socket would refuse in bulk.
    most_waiting=$((pool_backlog * 3 / 4))

    for file in sluice.conf $(cd "$project_root/nginx" && printf '%s\n' snippets/*.conf.in); do
        file=${file%.in}
        render "$project_root/nginx/$file.in" "RUN=$run_dir" "PORT=$port" "USER_LINE=$user_line" \
            "FILES=$files" "CONNECTIONS=$connections" "BACKLOG=$pool_backlog" \
            "MOST_WAITING=$most_waiting" >"$place/$file"
    done
    write_problems "$project_root/fcgi-app/http/errors.tbl" "$place/web/problems" \
        >"$place/snippets/problem_answers.conf"
    cp -- "$project_root/docs/openapi.yaml" "$place/web/openapi.yaml"
    chmod 711 "$place" "$place/tmp"
    chmod -R a+rX "$place/web"

    nginx -t -q -p "$place" -e stderr -c "$place/sluice.conf" >>"$data_dir/logs/nginx.log" 2>&1 ||
        fail_part nginx "refuses its configuration"
}

start_nginx()
{
    spawn nginx TERM nginx -p "$run_dir/nginx" -e stderr -c "$run_dir/nginx/sluice.conf" \
        -g 'daemon off;'
}

# stop_nginx: no new connections; requests under way are answered.
stop_nginx()
{
    stop_part nginx QUIT 10
}
