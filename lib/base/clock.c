#include "lib/base/clock.h"

#include <string.h>
#include <time.h>

static int64_t clock_ms(clockid_t id)
{
    struct timespec now;

    (void)clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_wall_ms(void)
{
    return clock_ms(CLOCK_REALTIME);
}

int64_t clock_monotonic_ms(void)
{
    return clock_ms(CLOCK_MONOTONIC);
}

int64_t clock_monotonic_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void write_digits(char *out, int count, int value)
{
    while (count > 0) {
        out[--count] = (char)('0' + value % 10);
        value /= 10;
    }
}

void rfc3339_format(int64_t ms, char out[RFC3339_TEXT + 1])
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm utc;

    (void)gmtime_r(&seconds, &utc);
    memcpy(out, "0000-00-00T00:00:00.000Z", RFC3339_TEXT + 1);
    write_digits(out, 4, utc.tm_year + 1900);
    write_digits(out + 5, 2, utc.tm_mon + 1);
    write_digits(out + 8, 2, utc.tm_mday);
    write_digits(out + 11, 2, utc.tm_hour);
    write_digits(out + 14, 2, utc.tm_min);
    write_digits(out + 17, 2, utc.tm_sec);
    write_digits(out + 20, 3, (int)(ms % 1000));
}

static bool digits(struct str text, size_t at, size_t count, int64_t min, int64_t max, int *out)
{
    int64_t value;

    if (at + count > text.n || text.p[at] == '-' ||
        !str_to_int64(str_sized(text.p + at, count), min, max, &value)) {
        return false;
    }
    *out = (int)value;
    return true;
}

static bool zone_minutes(struct str zone, int *minutes)
{
    int hour;
    int minute;

    if (zone.n == 1 && (zone.p[0] == 'Z' || zone.p[0] == 'z')) {
        *minutes = 0;
        return true;
    }
    if (zone.n != 6 || (zone.p[0] != '+' && zone.p[0] != '-') || zone.p[3] != ':' ||
        !digits(zone, 1, 2, 0, 23, &hour) || !digits(zone, 4, 2, 0, 59, &minute)) {
        return false;
    }
    *minutes = (zone.p[0] == '-' ? -1 : 1) * (hour * 60 + minute);
    return true;
}

enum { LEAP_SECOND = 60 };

static const int64_t LAST_READ_MS = 253370764799999; /* the end of the year 9998 */

bool rfc3339_parse(struct str text, int64_t *ms)
{
    int year;
    int month;
    int day;
    int hour;
    int minute;
    int second;
    int offset;
    int64_t fraction = 0;
    size_t at = 19;

    if (text.n < 20 || text.p[4] != '-' || text.p[7] != '-' ||
        (text.p[10] != 'T' && text.p[10] != 't' && text.p[10] != ' ') || text.p[13] != ':' ||
        text.p[16] != ':' || !digits(text, 0, 4, 1970, 9998, &year) ||
        !digits(text, 5, 2, 1, 12, &month) || !digits(text, 8, 2, 1, 31, &day) ||
        !digits(text, 11, 2, 0, 23, &hour) || !digits(text, 14, 2, 0, 59, &minute) ||
        !digits(text, 17, 2, 0, LEAP_SECOND, &second)) {
        return false;
    }
    if (text.p[at] == '.') {
        int64_t unit = 100;
        size_t first = ++at;
        for (; at < text.n && text.p[at] >= '0' && text.p[at] <= '9'; at++) {
            fraction += (text.p[at] - '0') * unit;
            unit /= 10;
        }
        if (at == first || at - first > 9) {
            return false;
        }
    }
    if (!zone_minutes(str_sized(text.p + at, text.n - at), &offset)) {
        return false;
    }
    struct tm utc = {.tm_year = year - 1900,
                     .tm_mon = month - 1,
                     .tm_mday = day,
                     .tm_hour = hour,
                     .tm_min = minute,
                     .tm_sec = second == LEAP_SECOND ? second - 1 : second};
    int64_t seconds = (int64_t)timegm(&utc) + (second == LEAP_SECOND ? 1 : 0);
    /* timegm() turns 31 April into 1 May; such a date is refused. */
    if (utc.tm_mday != day) {
        return false;
    }
    int64_t value = (seconds - offset * 60) * 1000 + fraction;
    /* The zone or the leap second may push the time beyond what could be parsed back. */
    if (value < 0 || value > LAST_READ_MS) {
        return false;
    }
    *ms = value;
    return true;
}
