#include <stdio.h>
#include <string.h>

#include "sluicectl/commands.h"
#include "sluicectl/commands/setting_arguments.h"

enum { LINE_WIDTH = 79, OPTION_WIDTH = 26 };

/** An option as help shows it; `bits` 0: accepted by every command. */
struct shown_option {
    unsigned int bits;
    const char *spelling;
    const char *value; /* "": none */
    const char *text;
};

static const struct shown_option SHOWN[] = {
#define GLOBAL(spelling, value, text) {0, spelling, value, text},
#define OPTION(name, field, spelling, kind, minimum, maximum, initial, value, text)                \
    {OPTION_##name, spelling, value, text},
#include "sluicectl/options.tbl"
#undef OPTION
#undef GLOBAL
};

static const char HEAD[] =
    "NAME\n"
    "    sluicectl - operate Sluice from a shell\n"
    "\n"
    "SYNOPSIS\n"
    "    sluicectl [--url URL] [--data DIR] [--json] COMMAND [ARGUMENT ...]\n"
    "    sluicectl COMMAND --help\n"
    "\n"
    "COMMANDS\n";

static const char TAIL[] =
    "    help [COMMAND | settings]\n"
    "        This text, the part about a command with examples, or all settings of a\n"
    "        queue.\n"
    "\n";

static const char REST[] =
    "\n"
    "ENVIRONMENT\n"
    "    SLUICE_URL, SLUICE_DATA   as --url and --data, which take precedence\n"
    "    SLUICE_ADMIN_KEY_FILE     the operator's key, instead of DIR/secrets/admin.key\n"
    "\n"
    "FILES\n"
    "    DIR/secrets/admin.key       the operator's key; without --data and a folder\n"
    "                                ./data that of an installed Sluice:\n"
    "                                /etc/sluice/secrets/operators/admin.key\n"
    "    /etc/sluice/local-address   address and port at which nginx serves an installed\n"
    "                                Sluice to its own machine [127.0.0.1:280]; that of\n"
    "                                scripts/run is 127.0.0.1:8080\n"
    "    DIR/secrets/member-jwt.key  signs the member JWTs of `token member`\n"
    "\n"
    "EXIT STATUS\n"
    "    0   done\n"
    "    1   refused; or diff, doctor or lottery verify found something\n"
    "    64  a wrong command line\n"
    "    69  no answer, or not possible at the moment: retry later\n"
    "    77  the key was not accepted, or has no permission\n"
    "    78  a key, a settings file or another file cannot be read or written\n";

/** Prints `text` wrapped in lines indented by `indent` spaces; the first line begins at the cursor,
 *  in column `at`. */
static void print_wrapped(const char *text, size_t indent, size_t at)
{
    struct str rest = str_of(text);
    bool first = true;

    while (rest.n > 0) {
        struct str word;
        (void)str_split(rest, ' ', &word, &rest);
        if (!first && at + 1 + word.n > LINE_WIDTH) {
            (void)putchar('\n');
            at = 0;
            first = true;
        }
        if (at < indent) {
            (void)printf("%*s", (int)(indent - at), "");
            at = indent;
        }
        (void)printf("%s%.*s", first ? "" : " ", STR_ARG(word));
        at += (first ? 0 : 1) + word.n;
        first = false;
    }
    (void)putchar('\n');
}

static void print_option(const struct shown_option *option)
{
    int width = printf("    --%s%s%s", option->spelling, option->value[0] != '\0' ? " " : "",
                       option->value);

    if (width > OPTION_WIDTH) {
        (void)putchar('\n');
        width = 0;
    }
    print_wrapped(option->text, OPTION_WIDTH + 2, (size_t)width);
}

/** Prints the options in the set `bits`; 0: those of every command. */
static void print_options(unsigned int bits)
{
    for (size_t i = 0; i < sizeof(SHOWN) / sizeof(SHOWN[0]); i++) {
        if (bits == 0 ? SHOWN[i].bits == 0 : (SHOWN[i].bits & bits) != 0) {
            print_option(&SHOWN[i]);
        }
    }
}

static void print_command(const struct command *command)
{
    (void)printf("    %s%s%s", command->words, command->arguments[0] != '\0' ? " " : "",
                 command->arguments);
    for (size_t i = 0; i < sizeof(SHOWN) / sizeof(SHOWN[0]); i++) {
        if ((command->options & SHOWN[i].bits) != 0) {
            (void)printf(" [--%s%s%s]", SHOWN[i].spelling, SHOWN[i].value[0] != '\0' ? " " : "",
                         SHOWN[i].value);
        }
    }
    (void)putchar('\n');
    print_wrapped(command->summary, 8, 0);
}

static bool is_named(const struct command *command, struct str prefix)
{
    struct str words = str_of(command->words);

    return str_starts(words, prefix) &&
           (prefix.n == 0 || words.n == prefix.n || words.p[prefix.n] == ' ');
}

/** Prints the commands whose words begin with `prefix`; returns the options that they take, and
 *  counts them in `printed`. */
static unsigned int print_commands(struct str prefix, int *printed)
{
    size_t count = 0;
    const struct command *commands = command_rows(&count);
    unsigned int options = 0;

    *printed = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_named(&commands[i], prefix)) {
            print_command(&commands[i]);
            options |= commands[i].options;
            (*printed)++;
        }
    }
    return options;
}

static void print_examples(struct str prefix)
{
    size_t count = 0;
    const struct command *commands = command_rows(&count);

    (void)puts("\nEXAMPLES");
    for (size_t i = 0; i < count; i++) {
        struct str rest = str_of(is_named(&commands[i], prefix) ? commands[i].examples : "");
        while (rest.n > 0) {
            struct str line;
            (void)str_split(rest, '\n', &line, &rest);
            (void)printf("    sluicectl %.*s\n", STR_ARG(line));
        }
    }
}

static enum exit_code print_all(void)
{
    int printed;

    (void)fputs(HEAD, stdout);
    (void)print_commands(STR(""), &printed);
    (void)fputs(TAIL, stdout);
    (void)puts("OPTIONS");
    print_options(0);
    print_options(~0U);
    (void)fputs(REST, stdout);
    print_examples(STR(""));
    return EXIT_DONE;
}

/** The command or alias that `words` name, or the group of the first word. */
static struct str named_by(char *const *words, int count)
{
    int used = 0;
    const struct command *command = command_find(words, count, &used);

    return str_of(command != NULL ? command->words : words[0]);
}

enum exit_code command_help(struct arena *arena, char *const *words, int count)
{
    int printed = 0;

    if (count == 0) {
        return print_all();
    }
    if (strcmp(words[0], "settings") == 0) {
        setting_arguments_help(arena);
        return EXIT_DONE;
    }
    struct str name = named_by(words, count);
    unsigned int options = print_commands(name, &printed);
    if (printed == 0) {
        return misused("there is no command '%.*s'", STR_ARG(name));
    }
    (void)puts("\nOPTIONS");
    if (options != 0) {
        print_options(options);
    }
    print_options(0);
    print_examples(name);
    return EXIT_DONE;
}
