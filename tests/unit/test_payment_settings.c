#include "tests/unit/unit.h"

#include <string.h>

#include "lib/payments/payment_settings.h"

TEST(nobody_is_sent_to_an_address_that_the_provider_cannot_mean)
{
    static const struct {
        const char *url;
        bool remote;
        bool local;
    } CASES[] = {
        {"https://online-pay.kakao.com/mockup/v1/ab/info", true, true},
        {"http://127.0.0.1:8000/pay/x", false, true},
        {"/_sluice/payment-simulator/pay/x", false, true},
        {"//evil.example/x", false, false},
        {"javascript:alert(1)", false, false},
        {"data:text/html,x", false, false},
        {"https://pay.example/\"><script>", false, false},
        {"https://pay.example/a b", false, false},
        {"https://pay.example\\@evil.example/", false, false},
        {"/\\evil.example", false, false},
        {"https://pay.example/\r\nSet-Cookie: x", false, false},
        {"pay", false, false},
        {"", false, false},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        if (payment_redirect_is_good(str_of(CASES[i].url), false) != CASES[i].remote ||
            payment_redirect_is_good(str_of(CASES[i].url), true) != CASES[i].local) {
            fail_msg("'%s' is judged wrongly", CASES[i].url);
        }
    }
}

static struct settings usable(void)
{
    return (struct settings){.payment_provider = "kakaopay",
                             .payment_secret_key_file = "/x",
                             .payment_cid = "TC0ONETIME",
                             .payment_public_url = "https://shop.example",
                             .payment_connect_timeout_ms = 2000,
                             .payment_timeout_ms = 11000,
                             .payment_grace_seconds = 14};
}

TEST(settings_that_do_not_fit_together_are_named)
{
    char error[PAYMENT_PROVIDER_ERROR] = "";
    struct settings settings = usable();

    assert_true(payment_settings_fit(&settings, false, error));
    settings.payment_secret_key_file = "";
    assert_false(payment_settings_fit(&settings, false, error));
    assert_contains(error, "payment_secret_key_file");
    settings = usable();
    settings.payment_cid = "";
    assert_false(payment_settings_fit(&settings, false, error));
    assert_contains(error, "payment_cid");
    settings.payment_provider = "toss";
    assert_true(payment_settings_fit(&settings, false, error));
    settings = usable();
    settings.payment_connect_timeout_ms = 12000;
    assert_false(payment_settings_fit(&settings, false, error));
    assert_contains(error, "payment_connect_timeout_ms");
    settings = usable();
    settings.payment_timeout_ms = 11001;
    assert_false(payment_settings_fit(&settings, false, error));
    assert_contains(error, "payment_grace_seconds");
}

TEST(members_come_back_by_tls_or_to_this_machine)
{
    static const struct {
        const char *url;
        bool remote;
        bool local;
    } CASES[] = {
        {"https://shop.example", true, true},
        {"https://shop.example/prefix", true, true},
        {"http://localhost:8080", true, true},
        {"http://127.0.0.1", true, true},
        {"", false, true},
        {"http://shop.example", false, false},
        {"http://localhost.example", false, false},
        {"https://shop.example/", false, false},
        {"https://shop.example?x=1", false, false},
        {"https://shop.example#x", false, false},
        {"https://shop example", false, false},
        {"shop.example", false, false},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        char error[PAYMENT_PROVIDER_ERROR] = "";
        struct settings settings = usable();
        settings.payment_public_url = CASES[i].url;
        if (payment_settings_fit(&settings, false, error) != CASES[i].remote ||
            payment_settings_fit(&settings, true, error) != CASES[i].local) {
            fail_msg("'%s' is judged wrongly", CASES[i].url);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_is_sent_to_an_address_that_the_provider_cannot_mean),
        cmocka_unit_test(settings_that_do_not_fit_together_are_named),
        cmocka_unit_test(members_come_back_by_tls_or_to_this_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
