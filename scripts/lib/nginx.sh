# shellcheck shell=bash
# nginx.sh: a private nginx: its configuration from the templates in nginx/, its static pages,
# and the gate's files for another nginx. Uses templates.sh, problem_pages.sh and settings_file.sh.

nginx_user=www-data
nginx_group=www-data

# write_nginx_config: renders everything into run_dir/nginx. Copies files instead of reading them
# from the clone, which nginx's user may be unable to reach.
write_nginx_config()
{
    local place=$run_dir/nginx file user_line='' files connections limits unavailable
    unavailable=$(unavailable_page)
    mkdir -p "$place/snippets" "$place/gate" "$place/web/problems" "$place/web/shop" "$place/tmp"
    files=$(ulimit -n)
    [[ $files != unlimited && $files -le 65536 ]] || files=65536
    # Every client may need a connection to a worker too.
    connections=$(((files - 64) / 2))
    if is_root; then
        user_line="user $nginx_user $nginx_group;"
    fi
    mapfile -t limits < <(bounds)

    for file in sluice.conf $(cd "$project_root/nginx" && printf '%s\n' gate/*.conf.in snippets/*.conf.in); do
        file=${file%.in}
        render "$project_root/nginx/$file.in" "RUN=$run_dir" "PORT=$port" "USER_LINE=$user_line" \
            "FILES=$files" "CONNECTIONS=$connections" "BACKLOG=$pool_backlog" \
            "CACHE=$place/tmp/cache" "UNAVAILABLE=$unavailable" \
            "${limits[@]}" >"$place/$file"
    done
    cors_origins "${settings_file:-}" >"$place/snippets/cors_origins.conf"
    local simulated=true
    if [[ -z ${payment_simulator_path:-} ]] || ! payments_are_simulated; then
        simulated=false
        rm -f -- "$place/snippets/payment_simulator.conf"
    fi
    write_problems "$project_root/fcgi-app/http/errors.tbl" "$place/web/problems" \
        >"$place/snippets/problem_answers.conf"
    copy_pages "$place/web"
    cp -R -- "$project_root"/web/shop/*.html "$project_root/web/shop/assets" "$place/web/shop/"
    printf '{"simulated": %s}\n' "$simulated" >"$place/web/shop/payment.json"
    chmod 711 "$place" "$place/tmp"
    chmod -R a+rX "$place/web"

    nginx -t -q -p "$place" -e stderr -c "$place/sluice.conf" >>"$data_dir/logs/nginx.log" 2>&1 ||
        fail_part nginx "refuses its configuration"
}

# write_gate_files: the gate for another nginx, in front of any site on this machine: data_dir/gate
# holds the three files to include and what they need. Their addresses stay the same from run to run.
write_gate_files()
{
    local place=$data_dir/gate file limits unavailable
    unavailable=$(unavailable_page)
    mapfile -t limits < <(bounds)
    # nginx accepts no other characters without quotes, and other users must reach the sockets.
    if [[ $place == *[^A-Za-z0-9._/-]* ]]; then
        say "no files for another nginx: the name of the data folder has unusual characters"
        return 0
    fi
    mkdir -p "$place.new/snippets"
    for file in $(cd "$project_root/nginx" && printf '%s\n' gate/*.conf.in snippets/*.conf.in); do
        file=${file%.in}
        render "$project_root/nginx/$file.in" "RUN=$run_dir" "CACHE=$run_dir/gate-cache" \
            "UNAVAILABLE=$unavailable" "${limits[@]}" |
            sed "s|include snippets/|include $place/snippets/|" >"$place.new/${file#gate/}"
    done
    cors_origins "${settings_file:-}" >"$place.new/snippets/cors_origins.conf"
    # That nginx keeps its own log.
    printf '# The requests are in the log of the site.\n' >"$place.new/snippets/access_log.conf"
    sed "s|include snippets/|include $place/snippets/|" "$run_dir/nginx/snippets/problem_answers.conf" \
        >"$place.new/snippets/problem_answers.conf"
    chmod -R a+rX "$place.new"
    rm -rf -- "$place"
    mv -- "$place.new" "$place"
    # The cache of that nginx's workers, who may be unable to enter data_dir.
    mkdir -m 700 "$run_dir/gate-cache"
    if is_root; then
        chown "$nginx_user" "$run_dir/gate-cache"
    fi
}

start_nginx()
{
    spawn nginx TERM nginx -p "$run_dir/nginx" -e stderr -c "$run_dir/nginx/sluice.conf" \
        -g 'daemon off;'
}

# stop_nginx: accepts no new connections; requests in flight are answered.
stop_nginx()
{
    stop_part nginx QUIT 10
}
