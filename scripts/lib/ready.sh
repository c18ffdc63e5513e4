# shellcheck shell=bash
# ready.sh: whether every part serves, requested through nginx as a client would.

ready_within=60

# answers_200 PATH [HEADER]: the header is passed on standard input, where no other user can see it.
answers_200()
{
    local path=$1 header=${2:-Accept: */*} status
    status=$(printf '%s\n' "$header" | curl --silent --noproxy '*' --max-time 3 --output /dev/null \
        --header @- --write-out '%{http_code}' "http://127.0.0.1:$port$path") || return 1
    [[ $status == 200 ]]
}

# payment_pool_answers: without a login it answers 401; any other answer comes from nginx.
payment_pool_answers()
{
    local status
    status=$(curl --silent --noproxy '*' --max-time 3 --output /dev/null --request POST \
        --write-out '%{http_code}' "http://127.0.0.1:$port/v1/orders/o_AAAAAAAAAAAAAAAAAAAAAA/cancel") || return 1
    [[ $status == 401 ]]
}

wait_until_ready()
{
    local key
    read -r key <"$data_dir/secrets/admin.key"
    wait_until "$ready_within" nginx "did not answer" answers_200 /problems/not-found
    wait_until "$ready_within" queue-pool "did not answer" answers_200 /livez
    wait_until "$ready_within" order-pool "did not become ready" answers_200 /readyz
    wait_until "$ready_within" catalog-pool "did not answer" answers_200 /v1/concerts
    if payments_are_simulated; then
        wait_until "$ready_within" payment-simulator "did not answer" \
            answers_200 "$payment_simulator_path/alive"
    fi
    wait_until "$ready_within" payment-pool "did not answer" payment_pool_answers
    wait_until "$ready_within" operator-pool "did not answer" \
        answers_200 /v1/admin/queues "Authorization: Bearer $key"
}
