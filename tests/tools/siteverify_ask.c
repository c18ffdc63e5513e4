/*
 * siteverify_ask — asks the captcha's provider about tokens, one after the other, as the order pool does:
 *     siteverify_ask --config FILE TOKEN …
 * Prints a line for each: passed, refused or no-answer, the milliseconds it took, and why. The token "-" asks
 * only whether the provider answers.
 */
#include <stdio.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/captcha/siteverify.h"
#include "lib/settings/program_options.h"

static const char *const WORDS[] = {[SITEVERIFY_PASSED] = "passed",
                                    [SITEVERIFY_REFUSED] = "refused",
                                    [SITEVERIFY_NO_ANSWER] = "no-answer"};

static void ask(struct siteverify *siteverify, const char *token)
{
    int64_t begin = clock_monotonic_ms();
    const char *word;
    const char *why = "";

    if (strcmp(token, "-") == 0) {
        word = siteverify_answers(siteverify) ? "answers" : "silent";
    } else {
        word = WORDS[siteverify_ask(siteverify, str_of(token), &why)];
    }
    printf("%s %lld %s\n", word, (long long)(clock_monotonic_ms() - begin), why);
}

int main(int argc, char **argv)
{
    struct program program = {.name = "siteverify_ask",
                              .summary = "Asks the captcha's provider about tokens.",
                              .arguments_help = "TOKEN …"};
    struct settings settings;
    char error[HTTP_CLIENT_ERROR];
    int code = program_start(&program, argc, argv, &settings);

    if (code != PROGRAM_GOES_ON) {
        return code;
    }
    struct siteverify *siteverify = siteverify_open(&settings, error);
    if (siteverify == NULL) {
        (void)fprintf(stderr, "%s\n", error);
        code = PROGRAM_BAD_CONFIG;
    } else {
        code = PROGRAM_OK;
        for (int i = 0; i < program.argument_count; i++) {
            ask(siteverify, program.arguments[i]);
        }
    }
    siteverify_close(siteverify);
    settings_free(&settings);
    return code;
}
