# shellcheck shell=bash
# payment_simulator.sh: the payment simulator as the shop's provider, unless a real one is configured. It listens on
# a socket that nginx serves below /_sluice/payment-simulator/: its page for the browser is on the site itself, and
# its API is for the payment pool.

payment_simulator_path=/_sluice/payment-simulator

# payments_are_simulated: whether no other provider is configured.
payments_are_simulated()
{
    [[ -z ${SLUICE_PAYMENT_PROVIDER:-}${SLUICE_PAYMENT_BASE_URL:-}${SLUICE_PAYMENT_SECRET_KEY_FILE:-} ]]
}

# payment_simulator_settings: the lines of the settings file that configure it.
payment_simulator_settings()
{
    cat <<CONF
payment_provider = kakaopay
payment_base_url = http://127.0.0.1:$port$payment_simulator_path
payment_secret_key_file = $run_dir/data/secrets/payment-simulator.key
CONF
}

# Its sessions live as long as we assume. Every process that may enter the socket's folder may use
# it.
start_payment_simulator()
{
    spawn payment-simulator TERM \
        /usr/bin/python3 -B "$project_root/tests/payment_simulator" \
        --ledger "$run_dir/data/payment-simulator.sqlite" \
        --secret-file "$run_dir/data/secrets/payment-simulator.key" \
        --socket "$run_dir/fcgi/payment-simulator.sock" \
        --public-url "$payment_simulator_path" \
        --cid "${SLUICE_PAYMENT_CID:-TC0ONETIME}" \
        --session-seconds "${SLUICE_PAYMENT_SESSION_SECONDS:-900}"
}
