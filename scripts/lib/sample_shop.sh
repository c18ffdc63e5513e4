# shellcheck shell=bash
# sample_shop.sh: creates the sample shop's queues, products, coupons, concert and show through the operator API, as
# an operator would.
# Uses ready_within and the supervision of parts.

# sample_answer KEY METHOD PATH [FILE]: sends an operator request with FILE as its body; the status
# in sample_status (000: no answer), the answer in sample_text. The key is passed on standard input,
# where no other user can see it.
sample_answer()
{
    local key=$1 method=$2 path=$3 body=()
    if [[ -n ${4:-} ]]; then
        body=(--header 'Content-Type: application/json' --data-binary "@$4")
    fi
    sample_text=$(printf 'Authorization: Bearer %s\n' "$key" |
        curl --silent --noproxy '*' --max-time 5 --request "$method" --header @- "${body[@]}" \
            --write-out '\n%{http_code}' "http://127.0.0.1:$port/v1/admin/$path") || true
    sample_status=${sample_text##*$'\n'}
    sample_text=${sample_text%$'\n'*}
}

# make_sample KEY PATH FILE: creates the object if it is missing; an existing one belongs to the operator and stays.
# Succeeds also if it is refused, with the reason in sample_refusal: a retry would not help.
make_sample()
{
    local key=$1 path=$2 file=$3
    sample_answer "$key" GET "$path"
    if [[ $sample_status == 404 ]]; then
        sample_answer "$key" PUT "$path" "$file"
    fi
    case $sample_status in
        200 | 201) ;;
        000 | 429 | 5??) return 1 ;;
        *) sample_refusal="the operator API answers $sample_status to $path: $sample_text" ;;
    esac
}

# make_sample_codes KEY EVENT FILE: adds coupons to an event that has none.
make_sample_codes()
{
    local key=$1 event=$2 file=$3
    sample_answer "$key" GET "coupon-events/$event"
    if [[ $sample_status == 200 && $sample_text =~ \"coupons\":\ *0[^0-9] ]]; then
        sample_answer "$key" POST "coupon-events/$event/codes" "$file"
    fi
    case $sample_status in
        200 | 201) ;;
        000 | 429 | 5??) return 1 ;;
        *) sample_refusal="the operator API answers $sample_status to the codes of $event: $sample_text" ;;
    esac
}

# make_sample_shop: once everything serves, creates the queue `shop` and its goods, the queue `coupons` and its event.
# An operator's changes are kept; a deleted queue is created again, as /shop/ is served.
make_sample_shop()
{
    local key seed=$project_root/web/shop/seed path file
    sample_refusal=
    read -r key <"$data_dir/secrets/admin.key"
    while read -r path file; do
        wait_until "$ready_within" operator-pool "did not create the sample shop's $path" \
            make_sample "$key" "$path" "$seed/$file.json"
        [[ -z $sample_refusal ]] || die "the sample shop cannot be created: $sample_refusal"
    done <<'SAMPLES'
queues/shop queue
products/sample-mug sample-mug
products/sample-postcard sample-postcard
queues/coupons coupon-queue
coupon-events/sample-coupon sample-coupon
concerts/sample-concert sample-concert
shows/sample-show sample-show
SAMPLES
    wait_until "$ready_within" operator-pool "did not create the sample shop's coupons" \
        make_sample_codes "$key" sample-coupon "$seed/coupon-codes.json"
    [[ -z $sample_refusal ]] || die "the sample shop cannot be created: $sample_refusal"
}
