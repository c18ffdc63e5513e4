#include "sluicectl/commands/change_arguments.h"

#include "lib/base/str.h"

static bool read_one(const struct change_field *field, struct str text, json_object *object)
{
    int64_t number = 0;

    if (!field->number) {
        json_object_object_add(object, field->field,
                               json_object_new_string_len(text.n > 0 ? text.p : "", (int)text.n));
        return true;
    }
    if (!str_to_int64(text, INT64_MIN, INT64_MAX, &number)) {
        (void)misused("%s must be a whole number, not '%.*s'", field->word, STR_ARG(text));
        return false;
    }
    json_object_object_add(object, field->field, json_object_new_int64(number));
    return true;
}

/* Puts the arguments from the second on into `object`. False, with a message, for one that is not
 * in `fields`. */
static bool read_all(const struct invocation *invocation, const struct change_field *fields,
                     size_t count, json_object *object)
{
    for (int i = 1; i < invocation->argument_count; i++) {
        struct str name;
        struct str text;
        size_t at = 0;
        if (!str_split(str_of(invocation->arguments[i]), '=', &name, &text)) {
            (void)misused("'%s' does not have the form name=value", invocation->arguments[i]);
            return false;
        }
        while (at < count && !str_equal(name, str_of(fields[at].word))) {
            at++;
        }
        if (at == count) {
            (void)misused("there is no field '%.*s'", STR_ARG(name));
            return false;
        }
        if (!read_one(&fields[at], text, object)) {
            return false;
        }
    }
    return true;
}

enum exit_code change_put(const struct invocation *invocation, const char *read_path,
                          const char *path, const struct change_field *fields, size_t count,
                          struct client_answer *answer)
{
    json_object *wanted = scratch_object(invocation);

    /* The command line is checked before any request is sent. */
    if (!read_all(invocation, fields, count, wanted)) {
        return EXIT_USAGE;
    }
    if (!client_request(invocation, "GET", read_path, NULL, answer)) {
        return EXIT_FAILED;
    }
    if (answer->status != 200 && answer->status != 404) {
        return client_refused(invocation, answer);
    }
    if (answer->status == 200) {
        wanted = answer->body;
        (void)read_all(invocation, fields, count, wanted);
    }
    return client_call(invocation, "PUT", path, wanted, answer) ? EXIT_DONE : EXIT_FAILED;
}
