#include "fcgi-app/pool/lateness.h"

void lateness_note(struct lateness *lateness, int64_t late_ms, int64_t now_ms)
{
    if (now_ms - lateness->window_began_ms >= LATENESS_WINDOW_MS) {
        lateness->window_began_ms = now_ms;
        lateness->least_before_ms = lateness->least_ms;
        lateness->least_ms = late_ms;
    } else if (late_ms < lateness->least_ms) {
        lateness->least_ms = late_ms;
    }
}

int64_t lateness_ms(const struct lateness *lateness)
{
    return lateness->least_ms < lateness->least_before_ms ? lateness->least_ms
                                                          : lateness->least_before_ms;
}
