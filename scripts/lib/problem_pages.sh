# shellcheck shell=bash
# problem_pages.sh: generates the pages and nginx's own answers for each error in errors.tbl.

# To operators, where their pool gives no answer to nginx.
OPERATOR_ADVICE='No answer came from the operator pool. If the request was a change, it may or may not be stored: check it, and repeat it if it is missing.'

# problem_rows TABLE: `CODE<tab>status<tab>title<tab>seconds until a retry<tab>what to do` a line.
problem_rows()
{
    awk '
        /^ERROR\(/ { row = ""; inside = 1 }
        inside { sub(/^[ \t]+/, ""); row = row $0 }
        inside && /\)$/ {
            inside = 0
            gsub(/"[ \t]*"/, "", row)
            # Everything between quotes, commas included, is one field.
            count = split(row, part, "\"")
            if (count != 5)
                exit 1
            split(part[1], head, /[(, ]+/)
            gsub(/[, ]/, "", part[3])
            printf "%s\t%s\t%s\t%s\t%s\n", head[2], head[3], part[2], part[3], part[4]
        }' "$1"
}

# html TEXT: TEXT escaped for HTML, in escaped.
html()
{
    escaped=${1//&/\&amp;}
    escaped=${escaped//</\&lt;}
    escaped=${escaped//>/\&gt;}
}

# fill TEXT NAME=VALUE...: prints TEXT with each @NAME@ replaced. The same as render for a file, without forking: there are
# nearly a hundred of these.
fill()
{
    local text=$1 pair
    shift
    for pair in "$@"; do
        text=${text//"@${pair%%=*}@"/"${pair#*=}"}
    done
    printf '%s\n' "$text"
}

# sed_value TEXT: TEXT escaped such that render inserts it unchanged.
sed_value()
{
    local text=$1
    text=${text//\\/\\\\}
    text=${text//&/\\&}
    printf '%s' "${text//|/\\|}"
}

# write_problems TABLE FOLDER: for each error writes the page that its `type` points to into FOLDER,
# and the answer that nginx gives itself to standard output.
write_problems()
{
    local table=$1 folder=$2 code status title seconds advice page again more
    local page_text answer_text html_title html_advice escaped
    page_text=$(<"$project_root/nginx/problem.html.in")
    answer_text=$(<"$project_root/nginx/problem_answer.conf.in")
    while IFS=$'\t' read -r code status title seconds advice; do
        page=${code,,}
        page=${page//_/-}
        again='Sending the same request again gives the same answer.'
        more=
        if ((seconds > 0)); then
            again='Send the same request again after the time in Retry-After.'
            more="add_header Retry-After $seconds always;"
            if [[ $status == 429 || $status == 503 ]]; then
                # Randomized, see nginx/snippets/retry.conf.in.
                more="add_header Retry-After \$sluice_retry_$seconds always;"
            fi
        fi
        if [[ $code == ADMISSION_UNAVAILABLE ]]; then
            # The gate's, if no worker answers. A header without a value is not sent.
            more+="
    add_header Access-Control-Allow-Origin \$sluice_cors_origin always;
    add_header Access-Control-Allow-Credentials \$sluice_cors_credentials always;
    add_header Access-Control-Expose-Headers \$sluice_cors_headers always;
    add_header Vary Origin always;"
        elif [[ $code == METHOD_NOT_ALLOWED ]]; then
            # Only for our own answers, from static pages and for probes.
            more='add_header Allow "GET, HEAD" always;'
        fi
        html "$title"
        html_title=$escaped
        html "$advice"
        html_advice=$escaped
        fill "$page_text" "CODE=$code" "STATUS=$status" "AGAIN=$again" "TITLE=$html_title" \
            "ADVICE=$html_advice" >"$folder/$page.html"
        # An apostrophe would end nginx's string.
        fill "$answer_text" "LOCATION=$page" "CODE=$code" "STATUS=$status" "PAGE=$page" "MORE=$more" \
            "TITLE=${title//\'/\\\'}" "ADVICE=${advice//\'/\\\'}"
        if [[ $code == ORDERS_UNAVAILABLE ]]; then
            fill "$answer_text" "LOCATION=operator-$page" "CODE=$code" "STATUS=$status" "PAGE=$page" "MORE=$more" \
                "TITLE=${title//\'/\\\'}" "ADVICE=$OPERATOR_ADVICE"
        fi
    done < <(problem_rows "$table")
}
