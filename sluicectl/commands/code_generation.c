#include "sluicectl/commands/code_generation.h"

#include <stdio.h>

#include "sluicectl/server/client.h"

enum { COUNT_MAX = 10000000 };

static void print_codes(const struct invocation *invocation, json_object *answer)
{
    json_object *codes = json_object_object_get(answer, "codes");

    if (invocation->json) {
        print_json(answer);
        return;
    }
    for (size_t i = 0; i < json_object_array_length(codes); i++) {
        (void)puts(json_object_get_string(json_object_array_get_idx(codes, i)));
    }
}

enum exit_code codes_generate(const struct invocation *invocation, const char *path,
                              json_object *request, const char *count)
{
    int64_t left = 0;

    if (!str_to_int64(str_of(count), 1, COUNT_MAX, &left)) {
        return misused("COUNT must be a whole number from 1 to %d, not '%s'", COUNT_MAX, count);
    }
    while (left > 0) {
        struct client_answer answer;
        int64_t part = left < CODES_PER_REQUEST ? left : CODES_PER_REQUEST;
        json_object_object_add(request, "generate", json_object_new_int64(part));
        if (!client_call(invocation, "POST", path, request, &answer)) {
            return EXIT_FAILED;
        }
        print_codes(invocation, answer.body);
        left -= part;
    }
    return EXIT_DONE;
}
