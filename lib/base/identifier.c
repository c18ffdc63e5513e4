#include "lib/base/identifier.h"

#include <string.h>

static bool all_of(struct str text, const char *others)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        bool letter_or_digit = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!letter_or_digit && (c == '\0' || strchr(others, c) == NULL)) {
            return false;
        }
    }
    return true;
}

bool identifier_is_slug(struct str text)
{
    return text.n >= 1 && text.n <= SLUG_MAX && text.p[0] != '-' && all_of(text, "-");
}

bool identifier_is_member(struct str text)
{
    return text.n >= 1 && text.n <= MEMBER_MAX && all_of(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ._:-");
}

bool identifier_is_seat(struct str text)
{
    return text.n >= 1 && text.n <= SEAT_MAX && all_of(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-");
}

bool identifier_idempotency_key(struct str header, struct str *key)
{
    struct str text = str_trim(header);

    if (text.n >= 2 && text.p[0] == '"' && text.p[text.n - 1] == '"') {
        text = str_sized(text.p + 1, text.n - 2);
    }
    if (text.n < 1 || text.n > 255) {
        return false;
    }
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < 0x20 || text.p[i] > 0x7e) {
            return false;
        }
    }
    *key = text;
    return true;
}
