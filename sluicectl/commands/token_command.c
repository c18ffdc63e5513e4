#include <stdio.h>

#include "lib/base/buffer.h"
#include "lib/base/clock.h"
#include "lib/base/identifier.h"
#include "lib/identity/jwt.h"
#include "lib/identity/member_jwt.h"
#include "lib/settings/settings.h"
#include "sluicectl/commands.h"

/** Signs by the rules that the servers verify by. */
static enum exit_code print_token(const struct invocation *invocation,
                                  const struct settings *settings, struct str id)
{
    char error[SECRET_ERROR];
    struct buffer token;
    struct member_verifier *signer = member_verifier_new(settings, error);

    if (signer == NULL) {
        return failed("the key that signs member JWTs cannot be read: %s. Name Sluice's folder "
                      "with --data or SLUICE_DATA.",
                      error);
    }
    buffer_init(&token, JWT_MAX);
    bool made = member_jwt_sign(signer, id, clock_wall_ms(), invocation->ttl_s, &token);
    if (made && invocation->json) {
        (void)printf("{\"token\":\"%.*s\"}\n", STR_ARG(buffer_text(&token)));
    } else if (made) {
        (void)printf("%.*s\n", STR_ARG(buffer_text(&token)));
    }
    buffer_free(&token);
    member_verifier_free(signer);
    return made ? EXIT_DONE
                : failed("only HS256 tokens can be signed here; member_jwt_algorithm is %s",
                         settings->member_jwt_algorithm);
}

enum exit_code command_token_member(const struct command *command,
                                    const struct invocation *invocation)
{
    struct str id = str_of(invocation->arguments[0]);
    char error[SETTINGS_ERROR];
    struct settings settings;

    (void)command;
    if (!identifier_is_member(id)) {
        return misused("a member id has 1 to 64 of A-Z, a-z, 0-9, '.', '_', ':' and '-'");
    }
    if (!settings_load(NULL, &settings, error)) {
        return failed("%s", error);
    }
    if (settings.member_jwt_key_file[0] == '\0') {
        settings.member_jwt_key_file =
            arena_format(settings.memory, "%s/secrets/member-jwt.key", invocation->data);
    }
    enum exit_code code = print_token(invocation, &settings, id);
    settings_free(&settings);
    return code;
}
