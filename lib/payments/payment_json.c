#include "lib/payments/payment_json.h"

#include <limits.h>

#include "lib/base/clock.h"
#include "lib/identity/jwt.h"

enum { DEPTH_MAX = 16, TIME_MAX = 40, LOCAL_TIME = 19 };

static const int64_t AMOUNT_MAX = ((int64_t)1 << 53) - 1;

static void release(void *object)
{
    json_object_put(object);
}

json_object *payment_json_parse(struct arena *arena, struct str text)
{
    json_object *object = jwt_json_object(text, DEPTH_MAX);

    if (object != NULL) {
        arena_on_reset(arena, release, object);
    }
    return object;
}

json_object *payment_json_object(json_object *object, const char *name)
{
    json_object *value = NULL;

    return json_object_object_get_ex(object, name, &value) &&
                   json_object_is_type(value, json_type_object)
               ? value
               : NULL;
}

bool payment_is_word(struct str text, size_t most)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] <= 0x20 || text.p[i] > 0x7e) {
            return false;
        }
    }
    return text.n >= 1 && text.n <= most;
}

bool payment_json_word(struct arena *arena, json_object *object, const char *name, size_t most,
                       struct str *word)
{
    json_object *value = NULL;

    if (!json_object_object_get_ex(object, name, &value) ||
        !json_object_is_type(value, json_type_string)) {
        return false;
    }
    struct str text =
        str_sized(json_object_get_string(value), (size_t)json_object_get_string_len(value));
    if (!payment_is_word(text, most)) {
        return false;
    }
    *word = str_sized(arena_copy(arena, text), text.n);
    return true;
}

static bool whole_number(json_object *object, const char *name, int64_t min, int64_t max,
                         int64_t *number)
{
    json_object *value = NULL;

    if (!json_object_object_get_ex(object, name, &value) ||
        !json_object_is_type(value, json_type_int)) {
        return false;
    }
    /* json-c clamps a number beyond 64 bits, which the bounds then refuse. */
    int64_t found = json_object_get_int64(value);
    if (found < min || found > max) {
        return false;
    }
    *number = found;
    return true;
}

bool payment_json_amount(json_object *object, const char *name, int64_t *amount)
{
    return whole_number(object, name, 0, AMOUNT_MAX, amount);
}

bool payment_json_int(json_object *object, const char *name, int *number)
{
    int64_t found;

    if (!whole_number(object, name, -INT_MAX, INT_MAX, &found)) {
        return false;
    }
    *number = (int)found;
    return true;
}

int64_t payment_json_time(json_object *object, const char *name)
{
    json_object *value = NULL;
    struct buffer text;
    int64_t ms = -1;

    if (!json_object_object_get_ex(object, name, &value) ||
        !json_object_is_type(value, json_type_string)) {
        return -1;
    }
    buffer_init(&text, TIME_MAX);
    buffer_add(&text,
               str_sized(json_object_get_string(value), (size_t)json_object_get_string_len(value)));
    if (text.length == LOCAL_TIME) {
        buffer_add(&text, STR("+09:00"));
    }
    if (!buffer_ok(&text) || !rfc3339_parse(buffer_text(&text), &ms)) {
        ms = -1;
    }
    buffer_free(&text);
    return ms;
}

void payment_json_add(struct buffer *out, const char *name, struct str text)
{
    buffer_format(out, "\"%s\":", name);
    buffer_add_json_string(out, text);
    buffer_add_char(out, ',');
}

void payment_json_add_int(struct buffer *out, const char *name, int64_t number)
{
    buffer_format(out, "\"%s\":%lld,", name, (long long)number);
}

void payment_json_end(struct buffer *out)
{
    if (buffer_ok(out) && out->length > 0) {
        out->bytes[out->length - 1] = '}';
    }
}
