#include "sluicectl/sale/sale_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/admission/queues/queue_settings.h"
#include "lib/base/buffer.h"
#include "lib/base/identifier.h"

enum { FILE_MAX = 64 * 1024 * 1024, DEPTH_MAX = 16 };

static const char *const CONCERT[] = {"title", "venue", "description", NULL};
static const char *const PRODUCT[] = {"name", "price", "taxFree", "stock", "queue", NULL};
static const char *const EVENT[] = {"name", "queue", "opensAt", "endsAt", "captcha", NULL};
static const char *const SHOW[] = {"concert",        "startsAt", "queue", "maxSeatsPerMember",
                                   "holdTtlSeconds", "seats",    "plan",  NULL};

const struct sale_kind SALE_KIND_ROWS[SALE_KINDS] = {
    {"queues", "queue", "/v1/admin/queues", "queues", "queue", NULL},
    {"concerts", "concert", "/v1/admin/concerts", "concerts", "concert", CONCERT},
    {"shows", "show", "/v1/admin/shows", "shows", "show", SHOW},
    {"products", "product", "/v1/admin/products", "products", "sku", PRODUCT},
    {"couponEvents", "coupon-event", "/v1/admin/coupon-events", "events", "event", EVENT},
};

static void release_json(void *object)
{
    (void)json_object_put(object);
}

bool sale_field_is_known(const struct sale_kind *kind, const char *field)
{
    if (kind->fields == NULL) {
        for (int i = 0; i < QUEUE_SETTING_COUNT; i++) {
            if (strcmp(queue_setting((enum queue_setting_number)i)->name, field) == 0) {
                return true;
            }
        }
        return false;
    }
    for (size_t i = 0; kind->fields[i] != NULL; i++) {
        if (strcmp(kind->fields[i], field) == 0) {
            return true;
        }
    }
    return false;
}

/** Reads the complete file into `text`; false, with a message. */
static bool read_text(const struct invocation *invocation, struct buffer *text)
{
    bool standard = strcmp(invocation->file, "-") == 0;
    FILE *file = standard ? stdin : fopen(invocation->file, "re");
    char part[16384];
    size_t n;

    if (file == NULL) {
        (void)failed_as(EXIT_CONFIG, "%s cannot be read: %s", invocation->file, strerror(errno));
        return false;
    }
    while (buffer_ok(text) && (n = fread(part, 1, sizeof(part), file)) > 0) {
        buffer_add(text, str_sized(part, n));
    }
    bool good = ferror(file) == 0;
    if (!standard) {
        (void)fclose(file);
    }
    if (!good) {
        (void)failed_as(EXIT_CONFIG, "%s could not be read completely", invocation->file);
    } else if (!buffer_ok(text)) {
        (void)failed_as(EXIT_CONFIG, "%s is larger than %d MiB", invocation->file,
                        FILE_MAX / 1024 / 1024);
    }
    return good && buffer_ok(text);
}

/** The line of `text` that contains the byte at `offset`. */
static int line_of(struct str text, size_t offset)
{
    int line = 1;

    for (size_t i = 0; i < offset && i < text.n; i++) {
        line += text.p[i] == '\n';
    }
    return line;
}

static json_object *parse(const struct invocation *invocation, struct str text)
{
    json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);

    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    json_object *object = json_tokener_parse_ex(tokener, text.p, (int)text.n);
    enum json_tokener_error error = json_tokener_get_error(tokener);
    size_t end = json_tokener_get_parse_end(tokener);
    while (error == json_tokener_success && end < text.n &&
           strchr(" \t\r\n", text.p[end]) != NULL) {
        end++;
    }
    if (error != json_tokener_success || end < text.n) {
        (void)failed_as(EXIT_CONFIG, "%s, line %d: invalid JSON%s%s", invocation->file,
                        line_of(text, end), error == json_tokener_success ? "" : ": ",
                        error == json_tokener_success ? "" : json_tokener_error_desc(error));
        (void)json_object_put(object);
        object = NULL;
    }
    json_tokener_free(tokener);
    return object;
}

static bool wrong(const struct invocation *invocation, const char *pointer, const char *why)
{
    (void)failed_as(EXIT_CONFIG, "%s: %s: %s", invocation->file, pointer, why);
    return false;
}

static bool check_object(const struct invocation *invocation, const struct sale_kind *kind,
                         const char *pointer, json_object *object)
{
    if (!json_object_is_type(object, json_type_object)) {
        return wrong(invocation, pointer, "this must be an object");
    }
    json_object_object_foreach(object, field, value)
    {
        (void)value;
        if (!sale_field_is_known(kind, field)) {
            return wrong(
                invocation, pointer,
                arena_format(invocation->arena, "a %s has no field '%s'", kind->one, field));
        }
    }
    return json_object_object_get(object, "seats") == NULL ||
           json_object_object_get(object, "plan") == NULL ||
           wrong(invocation, pointer, "a show may have seats or a plan, not both");
}

static bool check_kind(const struct invocation *invocation, const struct sale_kind *kind,
                       json_object *objects)
{
    const char *pointer = arena_format(invocation->arena, "/%s", kind->name);

    if (!json_object_is_type(objects, json_type_object)) {
        return wrong(invocation, pointer, "this must be an object with the ids as names");
    }
    json_object_object_foreach(objects, id, object)
    {
        pointer = arena_format(invocation->arena, "/%s/%s", kind->name, id);
        if (!identifier_is_slug(str_of(id))) {
            return wrong(invocation, pointer,
                         "an id has 1 to 63 of a-z, 0-9 and '-', not beginning with '-'");
        }
        if (!check_object(invocation, kind, pointer, object)) {
            return false;
        }
    }
    return true;
}

static bool check_sale(const struct invocation *invocation, json_object *sale)
{
    if (!json_object_is_type(sale, json_type_object)) {
        return wrong(invocation, "/", "this must be an object");
    }
    json_object_object_foreach(sale, name, objects)
    {
        const struct sale_kind *kind = NULL;
        for (size_t i = 0; i < SALE_KINDS; i++) {
            if (strcmp(SALE_KIND_ROWS[i].name, name) == 0) {
                kind = &SALE_KIND_ROWS[i];
            }
        }
        if (kind == NULL) {
            return wrong(invocation, arena_format(invocation->arena, "/%s", name),
                         "only queues, concerts, shows, products and couponEvents are known");
        }
        if (!check_kind(invocation, kind, objects)) {
            return false;
        }
    }
    return true;
}

json_object *sale_file_read(const struct invocation *invocation)
{
    struct buffer text;
    json_object *sale = NULL;

    if (invocation->file[0] == '\0') {
        (void)misused("name the file with -f, or - for standard input");
        return NULL;
    }
    buffer_init(&text, FILE_MAX);
    if (read_text(invocation, &text)) {
        sale = parse(invocation, buffer_text(&text));
    }
    buffer_free(&text);
    if (sale == NULL) {
        return NULL;
    }
    arena_on_reset(invocation->arena, release_json, sale);
    return check_sale(invocation, sale) ? sale : NULL;
}

enum exit_code sale_file_write(const struct invocation *invocation, json_object *sale)
{
    const char *text = json_object_to_json_string_ext(
        sale, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE);

    if (invocation->file[0] == '\0' || strcmp(invocation->file, "-") == 0) {
        (void)puts(text);
        return EXIT_DONE;
    }
    const char *fresh = arena_format(invocation->arena, "%s.new", invocation->file);
    FILE *file = fopen(fresh, "we");
    if (file == NULL) {
        return failed_as(EXIT_CONFIG, "%s cannot be written: %s", fresh, strerror(errno));
    }
    bool good = fputs(text, file) >= 0 && fputc('\n', file) != EOF;
    good = fclose(file) == 0 && good;
    if (!good || rename(fresh, invocation->file) != 0) {
        (void)unlink(fresh);
        return failed_as(EXIT_CONFIG, "%s could not be written: %s", invocation->file,
                         strerror(errno));
    }
    return EXIT_DONE;
}
