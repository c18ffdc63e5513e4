#include "lib/admission/tokens/captcha_spend.h"

#include "lib/base/digest.h"

static enum outcome call(struct redis *redis, struct arena *arena, const char *kind,
                         struct str solution, const struct captcha_holder *holder, int64_t life_ms)
{
    char name[SHA256_TEXT + 1];
    char who[SHA256_TEXT + 1];

    sha256_text(str_of(arena_format(arena, "%s\n%.*s", kind, STR_ARG(solution))), name);
    sha256_text(str_of(arena_format(arena, "%.*s\n%.*s\n%.*s", STR_ARG(holder->event),
                                    STR_ARG(holder->member), STR_ARG(holder->entry_token))),
                who);
    struct redis_command *command =
        redis_command_script(arena, SCRIPT_CAPTCHA_SPEND, str_of(arena_copy(arena, str_of(name))));
    redis_command_add(command, str_of(arena_copy(arena, str_of(who))));
    redis_command_add_int(command, life_ms);
    return outcome_of(redis_call(redis, arena, command));
}

enum outcome captcha_spend(struct redis *redis, struct arena *arena, const char *kind,
                           struct str solution, const struct captcha_holder *holder,
                           int64_t life_ms)
{
    return call(redis, arena, kind, solution, holder, life_ms);
}

enum outcome captcha_spent(struct redis *redis, struct arena *arena, const char *kind,
                           struct str solution, const struct captcha_holder *holder)
{
    return call(redis, arena, kind, solution, holder, 0);
}
