#include "lib/base/encoding.h"

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

size_t base64url_encode(const void *bytes, size_t n, char *out)
{
    const unsigned char *in = bytes;
    unsigned long bits = 0;
    unsigned int held = 0;
    size_t length = 0;

    for (size_t i = 0; i < n; i++) {
        bits = (bits << 8 | in[i]) & 0xffff;
        held += 8;
        while (held >= 6) {
            held -= 6;
            out[length++] = ALPHABET[bits >> held & 0x3f];
        }
    }
    if (held > 0) {
        out[length++] = ALPHABET[bits << (6 - held) & 0x3f];
    }
    out[length] = '\0';
    return length;
}

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '-' ? 62 : c == '_' ? 63 : -1;
}

bool base64url_decode(struct str text, unsigned char *out, size_t capacity, size_t *length)
{
    unsigned long bits = 0;
    unsigned int held = 0;
    size_t written = 0;

    if (text.n % 4 == 1) {
        return false;
    }
    for (size_t i = 0; i < text.n; i++) {
        int value = value_of(text.p[i]);
        if (value < 0) {
            return false;
        }
        bits = (bits << 6 | (unsigned long)value) & 0xffff;
        held += 6;
        if (held >= 8) {
            if (written == capacity) {
                return false;
            }
            held -= 8;
            out[written++] = (unsigned char)(bits >> held & 0xff);
        }
    }
    if ((bits & ((1UL << held) - 1)) != 0) {
        return false;
    }
    *length = written;
    return true;
}

static const char HEX_DIGITS[] = "0123456789abcdef";

void hex_encode(const void *bytes, size_t n, char *out)
{
    const unsigned char *in = bytes;

    for (size_t i = 0; i < n; i++) {
        out[2 * i] = HEX_DIGITS[in[i] >> 4];
        out[2 * i + 1] = HEX_DIGITS[in[i] & 0xf];
    }
    out[2 * n] = '\0';
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool hex_decode(struct str text, unsigned char *out, size_t n)
{
    if (text.n != 2 * n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        int high = hex_value(text.p[2 * i]);
        int low = hex_value(text.p[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        out[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}
