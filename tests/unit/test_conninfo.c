#include "tests/unit/unit.h"

#include <string.h>

#include "lib/settings/conninfo.h"

TEST(passwords_are_masked_in_every_form_that_libpq_reads)
{
    static const char *const CASES[][2] = {
        {"", ""},
        {"host=/run dbname=sluice", "host=/run dbname=sluice"},
        {"password=SECRET", "password=***"},
        {"host=/run password=SECRET dbname=x", "host=/run password=*** dbname=x"},
        {"host = /run  password = SECRET", "host=/run password=***"},
        {"password='SEC RET' host=h", "password=*** host=h"},
        {"password='SEC\\'RET x=SECRET' host=h", "password=*** host=h"},
        {"password=SEC\\ RET host=h", "password=*** host=h"},
        {"sslpassword=SECRET passfile=/x", "sslpassword=*** passfile=***"},
        {"password=SECRET=SECRET", "password=***"},
        {"password= host=h", "password=***"},
        {"user= password=SECRET host=h", "user=*** host=h"},
        {"password='SECRET", "***"},
        {"SECRET", "***"},
        {"host=h SECRET", "***"},
        {"pass word=SECRET", "***"},
        {"postgresql://host/db", "postgresql://host/db"},
        {"postgresql://host:5432/db", "postgresql://host:5432/db"},
        {"postgres://user@host/db", "postgres://user@host/db"},
        {"postgresql://user:SECRET@host/db", "postgresql://user:***@host/db"},
        {"postgresql://user:SECRET@SECRET/SECRET:@host/db", "postgresql://user:***@host/db"},
        {"postgresql://user:SEC?RET@host/db", "postgresql://***"},
        {"postgresql://host/db?password=SECRET&x=1", "postgresql://host/db?password=***&x=1"},
        {"postgresql://host/db?p%61ssword=SECRET", "postgresql://host/db?p%61ssword=***"},
        {"postgresql://host:1/db?password=SEC@RET", "postgresql://***"},
        {"postgresql://u:SECRET@h/db?sslpassword=SECRET",
         "postgresql://u:***@h/db?sslpassword=***"},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct buffer out;
        buffer_init(&out, 500);
        buffer_add(&out, STR("> "));
        conninfo_add_masked(&out, str_of(CASES[i][0]));
        assert_true(buffer_ok(&out));
        assert_text(str_sized(out.bytes + 2, out.length - 2), CASES[i][1]);
        buffer_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passwords_are_masked_in_every_form_that_libpq_reads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
