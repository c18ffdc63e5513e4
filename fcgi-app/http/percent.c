#include "fcgi-app/http/percent.h"

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool percent_decode(struct arena *arena, struct str text, bool keep_slash, struct str *out)
{
    char *decoded = arena_alloc(arena, text.n + 1);
    size_t length = 0;

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != '%') {
            decoded[length++] = text.p[i];
            continue;
        }
        int high = text.n - i > 2 ? hex_value(text.p[i + 1]) : -1;
        int low = text.n - i > 2 ? hex_value(text.p[i + 2]) : -1;
        if (high < 0 || low < 0 || high + low == 0) {
            return false;
        }
        char c = (char)(unsigned char)(high * 16 + low);
        if (c == '/' && keep_slash) {
            decoded[length++] = '%';
        } else {
            decoded[length++] = c;
            i += 2;
        }
    }
    *out = str_sized(decoded, length);
    return true;
}
