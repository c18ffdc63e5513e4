#include "fcgi-app/http/weight.h"

enum { WEIGHT_TEXT_MAX = 5 /* "0.123" */ };

int weight_parse(struct str text)
{
    int weight = 0;
    int unit = WEIGHT_ONE;

    if (text.n == 0 || text.n > WEIGHT_TEXT_MAX || (text.n > 1 && text.p[1] != '.')) {
        return 0;
    }
    for (size_t i = 0; i < text.n; i++) {
        if (i == 1) {
            continue;
        }
        if (text.p[i] < '0' || text.p[i] > '9') {
            return 0;
        }
        weight += (text.p[i] - '0') * unit;
        unit /= 10;
    }
    return weight <= WEIGHT_ONE ? weight : 0;
}
