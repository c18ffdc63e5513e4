#include "lib/base/encoding.h"

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

size_t base64url_encode(const void *bytes, size_t n, char *out)
{
    const unsigned char *in = bytes;
    char *at = out;

    for (; n >= 3; n -= 3, in += 3) {
        *at++ = ALPHABET[in[0] >> 2];
        *at++ = ALPHABET[(in[0] & 0x03) << 4 | in[1] >> 4];
        *at++ = ALPHABET[(in[1] & 0x0f) << 2 | in[2] >> 6];
        *at++ = ALPHABET[in[2] & 0x3f];
    }
    if (n > 0) {
        unsigned int second = n > 1 ? in[1] : 0;
        *at++ = ALPHABET[in[0] >> 2];
        *at++ = ALPHABET[(in[0] & 0x03U) << 4 | second >> 4];
        if (n > 1) {
            *at++ = ALPHABET[(second & 0x0f) << 2];
        }
    }
    *at = '\0';
    return (size_t)(at - out);
}

/* The value of each character plus one; 0 for characters outside the alphabet. */
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

/* Decodes four characters at once, as this is most of the cost of checking a ticket. Returns 0 if
 * one of them is not in the alphabet. */
static unsigned int decode_four(const unsigned char *in, unsigned char *out)
{
    unsigned int a = VALUES[in[0]], b = VALUES[in[1]], c = VALUES[in[2]], d = VALUES[in[3]];
    unsigned int bits = (a - 1) << 18 | (b - 1) << 12 | (c - 1) << 6 | (d - 1);

    out[0] = (unsigned char)(bits >> 16);
    out[1] = (unsigned char)(bits >> 8);
    out[2] = (unsigned char)bits;
    return a != 0 && b != 0 && c != 0 && d != 0;
}

/* Decodes the two or three characters at the end; their surplus bits must be 0. */
static bool decode_rest(const unsigned char *in, size_t n, unsigned char *out)
{
    unsigned int a = VALUES[in[0]], b = VALUES[in[1]], c = n > 2 ? VALUES[in[2]] : 1;

    if (a == 0 || b == 0 || c == 0) {
        return false;
    }
    unsigned int bits = (a - 1) << 12 | (b - 1) << 6 | (c - 1);
    out[0] = (unsigned char)(bits >> 10);
    if (n == 2) {
        return ((b - 1) & 0x0f) == 0;
    }
    out[1] = (unsigned char)(bits >> 2);
    return ((c - 1) & 0x03) == 0;
}

bool base64url_decode(struct str text, unsigned char *out, size_t capacity, size_t *length)
{
    const unsigned char *in = (const unsigned char *)text.p;
    size_t whole = text.n / 4, rest = text.n % 4;
    size_t needed = 3 * whole + (rest > 0 ? rest - 1 : 0);

    if (rest == 1 || needed > capacity) {
        return false;
    }
    for (size_t i = 0; i < whole; i++) {
        if (decode_four(in + 4 * i, out + 3 * i) == 0) {
            return false;
        }
    }
    if (rest > 0 && !decode_rest(in + 4 * whole, rest, out + 3 * whole)) {
        return false;
    }
    *length = needed;
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
