#include "lib/admission/line/codes.h"

#include <inttypes.h>

#include "lib/admission/outcome.h"
#include "lib/base/clock.h"
#include "lib/base/encoding.h"
#include "lib/base/random.h"
#include "lib/identity/visitor.h"
#include "lib/store/redis_reply.h"

enum { GENERATED_BYTES = 16, GROUP = 4 };

/* 32 letters, five bits each: no I, O, 0 or 1. */
static const char LETTERS[] = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

_Static_assert(sizeof(LETTERS) - 1 == 32, "a letter is five bits");
_Static_assert(CODE_GENERATED_TEXT >= GENERATED_BYTES + GENERATED_BYTES / GROUP - 1,
               "the groups fit");

void code_generate(char out[CODE_GENERATED_TEXT + 1])
{
    unsigned char bytes[GENERATED_BYTES];
    size_t n = 0;

    random_bytes(bytes, sizeof(bytes));
    for (size_t i = 0; i < GENERATED_BYTES; i++) {
        if (i > 0 && i % GROUP == 0) {
            out[n++] = '-';
        }
        out[n++] = LETTERS[bytes[i] % 32];
    }
    out[n] = '\0';
}

static bool is_letter_or_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

struct str code_hash(struct arena *arena, struct str code)
{
    char *plain = arena_alloc(arena, code.n + 1);
    char *hash = arena_alloc(arena, SHA256_TEXT + 1);
    size_t n = 0;

    if (code.n == 0) {
        return code;
    }
    for (size_t i = 0; i < code.n; i++) {
        char c = code.p[i];
        if (c != '-' && c != ' ') {
            plain[n++] = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
        }
    }
    sha256_text(str_sized(plain, n), hash);
    return str_of(hash);
}

bool code_is_sound(struct str code)
{
    size_t letters = 0;

    for (size_t i = 0; i < code.n; i++) {
        if (is_letter_or_digit(code.p[i])) {
            letters++;
        } else if (code.p[i] != '-' && code.p[i] != ' ') {
            return false;
        }
    }
    return code.n <= CODE_TEXT_MAX && letters >= CODE_TEXT_MIN;
}

static const char *const KINDS[] = {[CODE_INVITE] = "invite", [CODE_PRIORITY] = "priority"};

bool code_kind_parse(struct str word, enum code_kind *kind)
{
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
        if (str_equal(word, str_of(KINDS[i]))) {
            *kind = (enum code_kind)i;
            return true;
        }
    }
    return false;
}

const char *code_kind_word(enum code_kind kind)
{
    return KINDS[kind];
}

bool codes_load(struct redis *redis, struct arena *arena, struct str queue,
                const struct code_entry *codes, size_t code_count, const struct code_use *uses,
                size_t use_count, int64_t *added)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_CODES_LOAD, queue);

    for (size_t i = 0; i < code_count; i++) {
        redis_command_add(command, codes[i].hash);
        redis_command_add(
            command, str_of(arena_format(arena, "%.*s/%" PRId64 "/%" PRId64, STR_ARG(codes[i].kind),
                                         codes[i].left, codes[i].ends_ms)));
    }
    for (size_t i = 0; i < use_count; i++) {
        redis_command_add(command, str_of(arena_format(arena, "%.*s/%.*s", STR_ARG(uses[i].hash),
                                                       STR_ARG(uses[i].member))));
        redis_command_add_int(command, uses[i].at_ms);
    }
    const redisReply *reply = redis_call(redis, arena, command);
    *added = redis_reply_int(reply, 1, 0);
    return outcome_of(reply) == OUTCOME_LOADED;
}

static struct str key_of(struct arena *arena, struct str queue, const char *name)
{
    return str_of(arena_format(arena, "sluice:{%.*s}:%s", STR_ARG(queue), name));
}

int64_t codes_known(struct redis *redis, struct arena *arena, struct str queue)
{
    struct redis_command *command = redis_command_new(arena, "HLEN");

    redis_command_add(command, key_of(arena, queue, "codes"));
    const redisReply *reply = redis_call(redis, arena, command);
    return reply != NULL && reply->type == REDIS_REPLY_INTEGER ? reply->integer : -1;
}

static bool is_hash(struct str text)
{
    unsigned char bytes[SHA256_BYTES];
    size_t length;

    return base64url_decode(text, bytes, sizeof(bytes), &length) && length == sizeof(bytes);
}

/** Parses "hash moment member"; false for anything else, and for what PostgreSQL would refuse. */
static bool read_use(struct str text, struct code_use *use)
{
    struct str moment;

    return str_split(text, ' ', &use->hash, &text) && str_split(text, ' ', &moment, &use->member) &&
           is_hash(use->hash) && visitor_or_member_is(use->member) &&
           str_to_int64(moment, 0, RFC3339_LAST_MS, &use->at_ms);
}

bool code_uses_pending(struct redis *redis, struct arena *arena, struct str queue,
                       struct code_uses *pending)
{
    struct redis_command *command = redis_command_new(arena, "LRANGE");

    redis_command_add(command, key_of(arena, queue, "codeUses"));
    redis_command_add_int(command, 0);
    redis_command_add_int(command, CODES_PER_CALL - 1);
    const redisReply *reply = redis_call(redis, arena, command);
    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY) {
        return false;
    }
    struct code_use *found = arena_alloc(arena, (reply->elements + 1) * sizeof(*found));
    size_t count = 0;
    while (count < reply->elements && read_use(redis_reply_text(reply, count), &found[count])) {
        count++;
    }
    *pending = (struct code_uses){.uses = found,
                                  .count = count,
                                  .first = redis_reply_text(reply, 0),
                                  .unreadable = count == 0 && reply->elements > 0};
    return true;
}

bool code_uses_acknowledge(struct redis *redis, struct arena *arena, struct str queue,
                           struct str first, size_t count)
{
    struct redis_command *command =
        redis_command_script(arena, SCRIPT_CODE_USES_ACKNOWLEDGE, queue);

    redis_command_add(command, first);
    redis_command_add_int(command, (int64_t)count);
    return redis_call(redis, arena, command) != NULL;
}
