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

/* One more than what a character stands for, 0 for one that is not in the alphabet. */
static const unsigned char VALUES[256] = {
    ['-'] = 63, ['_'] = 64, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56, ['4'] = 57, ['5'] = 58,
    ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,
    ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,  ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12,
    ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16, ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20,
    ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24, ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28,
    ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36,
    ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40, ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44,
    ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48, ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52,
};

bool base64url_decode(struct str text, unsigned char *out, size_t capacity, size_t *length)
{
    size_t i = 0;
    size_t written = 0;

    if (text.n % 4 == 1) {
        return false;
    }
    /* Most of every ticket: four characters make three bytes. */
    for (; text.n - i >= 4 && capacity - written >= 3; i += 4, written += 3) {
        const unsigned char *in = (const unsigned char *)text.p + i;
        unsigned a = VALUES[in[0]], b = VALUES[in[1]], c = VALUES[in[2]], d = VALUES[in[3]];
        if (a == 0 || b == 0 || c == 0 || d == 0) {
            return false;
        }
        unsigned bits = (a - 1) << 18 | (b - 1) << 12 | (c - 1) << 6 | (d - 1);
        out[written] = (unsigned char)(bits >> 16);
        out[written + 1] = (unsigned char)(bits >> 8 & 0xff);
        out[written + 2] = (unsigned char)(bits & 0xff);
    }
    unsigned bits = 0, held = 0;
    for (; i < text.n; i++) {
        unsigned value = VALUES[(unsigned char)text.p[i]];
        if (value == 0) {
            return false;
        }
        bits = (bits << 6 | (value - 1)) & 0xffff;
        held += 6;
        if (held >= 8) {
            if (written == capacity) {
                return false;
            }
            held -= 8;
            out[written++] = (unsigned char)(bits >> held & 0xff);
        }
    }
    if ((bits & ((1U << held) - 1)) != 0) {
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
