#include "fcgi-app/gate/page/accept_language.h"

#include <string.h>
#include <strings.h>

#include "fcgi-app/http/weight.h"

enum { RANGES_MAX = 32 };

/* WEIGHT_ONE without parameters, 0 for parameters that are not exactly a weight. */
static int weight_of(struct str parameters)
{
    struct str parameter = str_trim(parameters);

    if (parameter.n == 0) {
        return WEIGHT_ONE;
    }
    return str_starts(parameter, STR("q="))
               ? weight_parse(str_sized(parameter.p + 2, parameter.n - 2))
               : 0;
}

static size_t first_part(const char *name, size_t length)
{
    const char *dash = memchr(name, '-', length);

    return dash == NULL ? length : (size_t)(dash - name);
}

static const char *name_for(struct str range, const char *const names[], size_t count)
{
    size_t part = first_part(range.p, range.n);

    for (size_t i = 0; i < count; i++) {
        if (strlen(names[i]) == range.n && strncasecmp(names[i], range.p, range.n) == 0) {
            return names[i];
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (first_part(names[i], strlen(names[i])) == part &&
            strncasecmp(names[i], range.p, part) == 0) {
            return names[i];
        }
    }
    return NULL;
}

const char *accept_language_best(struct str header, const char *const names[], size_t count)
{
    const char *best = NULL;
    int best_weight = 0;

    for (int i = 0; i < RANGES_MAX && header.n > 0; i++) {
        struct str item, range, parameters;
        (void)str_split(header, ',', &item, &header);
        (void)str_split(item, ';', &range, &parameters);
        range = str_trim(range);
        int weight = weight_of(parameters);
        const char *name = range.n == 0 ? NULL : name_for(range, names, count);
        if (name != NULL && weight > best_weight) {
            best = name;
            best_weight = weight;
        }
    }
    return best;
}
