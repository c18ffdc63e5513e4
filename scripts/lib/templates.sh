# shellcheck shell=bash
# templates.sh: renders nginx's templates and the files that nginx serves. Uses problem_pages.sh and settings_file.sh.

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

# bounds: arguments for render that set how many requests may be in a pool at a time, from pool_backlog. In a blocking pool more
# would time out; in the queue pool polls get at most half, so that there is room for entries.
bounds()
{
    local most_waiting=$((pool_backlog * 3 / 4))
    printf '%s\n' "MOST_WAITING=$((most_waiting < 768 ? most_waiting : 768))" \
        "MOST_POLLS=$((pool_backlog / 2))" "MOST_ENTRIES=$pool_backlog"
}

# unavailable_page: the page that nginx itself shows, in one line and without characters that would end nginx's string.
unavailable_page()
{
    sed_value "$(tr '\n' ' ' <"$project_root/nginx/unavailable.html" | sed "s/'/\&#39;/g")"
}

# cors_origins SETTINGS: the rows of nginx's map from an origin to itself, for those in the setting cors_origins. nginx compares
# only regular expressions exactly.
cors_origins()
{
    local origin origins=()
    printf '# Of the setting cors_origins.\n'
    [[ -r $1 ]] || return 0
    read -ra origins <<<"$(setting_of "$1" cors_origins)"
    for origin in ${origins[@]+"${origins[@]}"}; do
        if [[ $origin == '*' ]]; then
            printf '%s\n' "\"~.\" \$http_origin;"
        elif [[ $origin =~ ^[][A-Za-z0-9.:/_-]+$ ]]; then
            origin=$(sed 's/[^A-Za-z0-9:/_-]/\\&/g' <<<"$origin")
            printf '%s\n' "\"~^$origin\$\" \$http_origin;"
        fi
    done
}

# copy_pages FOLDER: the files that every nginx of Sluice serves, without the problem pages.
copy_pages()
{
    cp -- "$project_root/docs/openapi.yaml" "$1/openapi.yaml"
    mkdir -p "$1/console"
    cp -R -- "$project_root"/web/console/*.{html,css,mjs,svg} "$project_root/web/console/uplot" "$1/console/"
}
