#include <stdio.h>
#include <string.h>

#include "sluicectl/commands.h"
#include "sluicectl/setting_arguments.h"

enum { LINE_WIDTH = 79 };

static const struct {
    unsigned int option;
    const char *spelling;
} COMMAND_OPTIONS[] = {
    {OPTION_FORCE, "--force"},          {OPTION_WATCH, "--watch"},
    {OPTION_TTL, "--ttl SECONDS"},      {OPTION_SAMPLES, "--samples N"},
    {OPTION_LIMIT, "--limit N"},        {OPTION_TARGET, "--target KIND/ID"},
    {OPTION_USES, "--uses N"},          {OPTION_EXPIRES, "--expires TIME"},
    {OPTION_MEMBERS, "--members FILE"}, {OPTION_COMMITMENT, "--commitment HEX"},
};

static const char HEAD[] =
    "NAME\n"
    "    sluicectl - operate Sluice from a shell\n"
    "\n"
    "SYNOPSIS\n"
    "    sluicectl [--url URL] [--data DIR] [--json] COMMAND [ARGUMENT ...]\n"
    "\n"
    "COMMANDS\n";

static const char TAIL[] =
    "    help [COMMAND | settings]\n"
    "        This text, a command's part of it, or all settings of a queue.\n"
    "\n"
    "OPTIONS\n"
    "    --url URL            address of Sluice [http://127.0.0.1:8080]\n"
    "    --data DIR           folder that scripts/run keeps its data in [./data]\n"
    "    --json               JSON instead of text; refusals as problem+json\n"
    "    --force              delete a queue also with people in it\n"
    "    --watch              go on, once a second, until Ctrl-C\n"
    "    --ttl SECONDS        life of a token, 1 to 31536000 [3600]\n"
    "    --samples N          seconds of history, 1 to 900 [10]\n"
    "    --limit N            changes or payments shown, 1 to 500 [50]\n"
    "    --target KIND/ID     changes of this only, e.g. queue/spring-sale\n"
    "    --uses N             members that each code is good for, 1 to 1000000000 [1]\n"
    "    --expires TIME       end of the codes by RFC 3339, e.g. 2026-01-31T12:00:00Z\n"
    "    --members FILE       the list as `lottery entrants` prints it\n"
    "    --commitment HEX     the commitment that you noted before the opening\n"
    "    -h, --help           this text\n"
    "    --version            the version\n"
    "\n"
    "ENVIRONMENT\n"
    "    SLUICE_URL, SLUICE_DATA   as --url and --data, which come first\n"
    "    SLUICE_ADMIN_KEY_FILE     the operator's key, instead of DIR/secrets/admin.key\n"
    "\n"
    "FILES\n"
    "    DIR/secrets/admin.key       the operator's key\n"
    "    DIR/secrets/member-jwt.key  signs the member JWTs of `token member`\n"
    "\n"
    "EXIT STATUS\n"
    "    0 done; 1 refused or not answered; 64 a wrong command line\n"
    "\n"
    "EXAMPLES\n"
    "    sluicectl queue set spring-sale rate=100 max-active=500 message='Soon!'\n"
    "    sluicectl product set mug name='A mug' price=15000 currency=KRW stock=100 \\\n"
    "        queue=spring-sale\n"
    "    curl -H \"Authorization: Bearer $(sluicectl token member ann)\" \\\n"
    "        -X POST http://127.0.0.1:8080/v1/queues/spring-sale/entries\n";

/** Prints `text` in lines that begin with eight spaces. */
static void print_wrapped(const char *text)
{
    struct str rest = str_of(text);
    size_t at = 0;

    while (rest.n > 0) {
        struct str word;
        (void)str_split(rest, ' ', &word, &rest);
        if (at > 0 && at + 1 + word.n > LINE_WIDTH) {
            (void)putchar('\n');
            at = 0;
        }
        (void)fputs(at == 0 ? "        " : " ", stdout);
        at += (at == 0 ? 8 : 1) + word.n;
        (void)printf("%.*s", STR_ARG(word));
    }
    (void)putchar('\n');
}

static void print_command(const struct command *command)
{
    (void)printf("    %s%s%s", command->words, command->arguments[0] != '\0' ? " " : "",
                 command->arguments);
    for (size_t i = 0; i < sizeof(COMMAND_OPTIONS) / sizeof(COMMAND_OPTIONS[0]); i++) {
        if ((command->options & COMMAND_OPTIONS[i].option) != 0) {
            (void)printf(" [%s]", COMMAND_OPTIONS[i].spelling);
        }
    }
    (void)putchar('\n');
    print_wrapped(command->summary);
}

/** Prints the commands whose words begin with `prefix`; returns how many there are. */
static int print_commands(struct str prefix)
{
    size_t count = 0;
    const struct command *commands = command_rows(&count);
    int printed = 0;

    for (size_t i = 0; i < count; i++) {
        struct str words = str_of(commands[i].words);
        bool named = str_starts(words, prefix) &&
                     (prefix.n == 0 || words.n == prefix.n || words.p[prefix.n] == ' ');
        if (named) {
            print_command(&commands[i]);
            printed++;
        }
    }
    return printed;
}

enum exit_code command_help(struct arena *arena, char *const *words, int count)
{
    if (count == 0) {
        (void)fputs(HEAD, stdout);
        (void)print_commands(STR(""));
        (void)fputs(TAIL, stdout);
        return EXIT_DONE;
    }
    const char *name = count == 1 ? words[0] : arena_format(arena, "%s %s", words[0], words[1]);
    if (strcmp(name, "settings") == 0) {
        setting_arguments_help(arena);
        return EXIT_DONE;
    }
    return print_commands(str_of(name)) > 0 ? EXIT_DONE : misused("there is no command '%s'", name);
}
