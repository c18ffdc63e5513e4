#include "lib/admission/lottery/lottery.h"

#include <inttypes.h>

#include <openssl/sha.h>

#include "lib/base/digest.h"

enum { NIBBLES_PER_WORD = 8, RANGES_MAX = 4096 };

static const int64_t PRIME = 2147483647;
static const int64_t SMALL_WORD = (int64_t)1 << 26;
static const int64_t NUMBER_MAX = (int64_t)1 << 41;

static void write_hex(const unsigned char *bytes, size_t n, char *out)
{
    static const char DIGITS[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++) {
        *out++ = DIGITS[bytes[i] >> 4];
        *out++ = DIGITS[bytes[i] & 15];
    }
    *out = '\0';
}

static void sha1_hex(struct str text, char out[LOTTERY_LIST_HASH_TEXT + 1])
{
    unsigned char hash[SHA_DIGEST_LENGTH];

    SHA1((const unsigned char *)text.p, text.n, hash);
    write_hex(hash, sizeof(hash), out);
}

void lottery_commitment(struct str secret, char out[LOTTERY_COMMITMENT_TEXT + 1])
{
    unsigned char hash[SHA256_BYTES];

    sha256(secret, hash);
    write_hex(hash, sizeof(hash), out);
}

void lottery_seed(struct arena *arena, struct str secret, struct str queue, int64_t epoch,
                  struct str list_hash, struct str ranges, char out[LOTTERY_SEED_TEXT + 1])
{
    unsigned char mac[SHA256_BYTES];
    const char *text = arena_format(arena, "%.*s %" PRId64 " %.*s %.*s", STR_ARG(queue), epoch,
                                    STR_ARG(list_hash), STR_ARG(ranges));

    hmac_sha256(secret, str_of(text), mac);
    write_hex(mac, sizeof(mac), out);
}

/** Parses "from-to", which must lie after `last`. */
static bool read_range(struct str text, int64_t last, struct lottery_range *range)
{
    struct str from;
    struct str to;

    return str_split(text, '-', &from, &to) &&
           str_to_int64(from, last + 1, NUMBER_MAX, &range->from) &&
           str_to_int64(to, range->from, NUMBER_MAX, &range->to);
}

static bool read_ranges(struct arena *arena, struct str text, struct lottery *lottery)
{
    struct lottery_range *ranges = arena_alloc(arena, RANGES_MAX * sizeof(*ranges));
    int64_t last = 0;

    lottery->ranges = ranges;
    while (text.n > 0 && lottery->range_count < RANGES_MAX) {
        struct lottery_range *range = &ranges[lottery->range_count++];
        struct str one = text;
        struct str rest = {0};
        bool more = str_split(text, ',', &one, &rest);
        if (!read_range(one, last, range) || (more && rest.n == 0)) {
            return false;
        }
        range->before = lottery->count;
        lottery->count += range->to - range->from + 1;
        last = range->to;
        text = rest;
    }
    return text.n == 0 && lottery->count >= 1 && lottery->count <= LOTTERY_COUNT_MAX;
}

static int64_t hex_word(const char *digits)
{
    int64_t word = 0;

    for (int i = 0; i < NIBBLES_PER_WORD; i++) {
        char c = digits[i];
        word = word * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return word;
}

static void make_keys(struct arena *arena, struct str seed, struct lottery *lottery)
{
    char hash[LOTTERY_LIST_HASH_TEXT + 1];

    for (int round = 0; round < LOTTERY_ROUNDS; round++) {
        sha1_hex(str_of(arena_format(arena, "%.*s:%d", STR_ARG(seed), round + 1)), hash);
        for (int i = 0; i < LOTTERY_ROUND_WORDS; i++) {
            int64_t word = hex_word(hash + NIBBLES_PER_WORD * i);
            lottery->keys[round][i] = word % (i < 2 ? PRIME : SMALL_WORD);
        }
    }
}

const struct lottery *lottery_read(struct arena *arena, struct str seed, struct str ranges)
{
    struct lottery *lottery = arena_alloc(arena, sizeof(*lottery));

    *lottery = (struct lottery){0};
    if (!read_ranges(arena, ranges, lottery)) {
        return NULL;
    }
    /* An even side: with an odd one only even permutations of the square would result. */
    while (lottery->side * lottery->side < lottery->count) {
        lottery->side += 2;
    }
    make_keys(arena, seed, lottery);
    return lottery;
}

/* No product reaches 2^53, so that languages with doubles only can compute the same. */
static int64_t mix(int64_t half, const int64_t key[LOTTERY_ROUND_WORDS], int64_t side)
{
    int64_t x = (half * key[0] + key[1]) % PRIME;

    return (x % 65536 + key[2]) * (x / 65536 + key[3]) % PRIME % side;
}

static int64_t forward(const struct lottery *lottery, int64_t at)
{
    int64_t side = lottery->side;
    int64_t left = at / side;
    int64_t right = at % side;

    for (int round = 0; round < LOTTERY_ROUNDS; round++) {
        int64_t next = (left + mix(right, lottery->keys[round], side)) % side;
        left = right;
        right = next;
    }
    return left * side + right;
}

static int64_t backward(const struct lottery *lottery, int64_t at)
{
    int64_t side = lottery->side;
    int64_t left = at / side;
    int64_t right = at % side;

    for (int round = LOTTERY_ROUNDS - 1; round >= 0; round--) {
        int64_t before = (right - mix(left, lottery->keys[round], side) + side) % side;
        right = left;
        left = before;
    }
    return left * side + right;
}

int64_t lottery_place(const struct lottery *lottery, int64_t number)
{
    for (size_t i = 0; i < lottery->range_count; i++) {
        const struct lottery_range *range = &lottery->ranges[i];
        if (number < range->from || number > range->to) {
            continue;
        }
        /* The square has points beyond the places: iterating from them always leads back to a
         * place (cycle walking). */
        int64_t at = range->before + number - range->from;
        do {
            at = forward(lottery, at);
        } while (at >= lottery->count);
        return at;
    }
    return -1;
}

int64_t lottery_number(const struct lottery *lottery, int64_t place)
{
    int64_t at = place;
    size_t i = 0;

    do {
        at = backward(lottery, at);
    } while (at >= lottery->count);
    while (i + 1 < lottery->range_count && at >= lottery->ranges[i + 1].before) {
        i++;
    }
    return lottery->ranges[i].from + at - lottery->ranges[i].before;
}

void lottery_list_add(struct arena *arena, struct str line, char hash[LOTTERY_LIST_HASH_TEXT + 1])
{
    sha1_hex(str_of(arena_format(arena, "%s %.*s", hash, STR_ARG(line))), hash);
}
