#include "fcgi-app/pool/shedding.h"

#include "fcgi-app/http/problem.h"
#include "lib/metrics/metrics.h"

static enum shed_kind kind_of_line(line_begin *begin)
{
    static const struct {
        line_begin *begin;
        enum shed_kind kind;
    } KINDS[] = {
        {position_begin, SHED_POLL},     {queue_state_begin, SHED_POLL},
        {queue_result_begin, SHED_POLL}, {queue_lottery_begin, SHED_POLL},
        {enter_begin, SHED_ENTRY},       {entry_challenge_begin, SHED_ENTRY},
        {room_begin, SHED_ROOM},
    };

    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
        if (KINDS[i].begin == begin) {
            return KINDS[i].kind;
        }
    }
    return SHED_NEVER;
}

static enum shed_kind find_kind(const struct route *route)
{
    const unsigned int blocking = 1U << POOL_ORDER | 1U << POOL_CATALOG;

    if (route->begin != NULL) {
        return kind_of_line(route->begin);
    }
    if ((route->pools & ~blocking) != 0) {
        return SHED_NEVER; /* a probe, or a pool that sheds nothing */
    }
    if (route->method == METHOD_GET) {
        return SHED_READ;
    }
    return route->method == METHOD_POST ? SHED_ORDER : SHED_NEVER;
}

enum shed_kind shedding_kind(const struct route *route)
{
    static unsigned char kinds_plus_one[ROUTES_MAX];
    unsigned char *kind = &kinds_plus_one[router_number(route)];

    if (route == NULL) {
        return SHED_NEVER;
    }
    if (*kind == 0) {
        *kind = (unsigned char)(find_kind(route) + 1);
    }
    return (enum shed_kind)(*kind - 1);
}

/* The lateness from which this kind is refused; 0: never. */
static int64_t limit_ms(const struct settings *settings, enum shed_kind kind)
{
    switch (kind) {
    case SHED_POLL:
        return settings->shed_polls_ms;
    case SHED_ENTRY:
    case SHED_ROOM:
        return settings->shed_entries_ms;
    case SHED_READ:
        return settings->shed_reads_ms;
    case SHED_ORDER:
        return settings->shed_orders_ms;
    case SHED_NEVER:
        break;
    }
    return 0;
}

static bool is_beyond(const struct settings *settings, enum shed_kind kind, int64_t late_ms)
{
    int64_t limit = limit_ms(settings, kind);

    return limit > 0 && late_ms >= limit;
}

void shedding_start(struct shedding *shedding, const struct settings *settings, int64_t now_ms)
{
    *shedding = (struct shedding){.settings = settings, .looked_at_ms = now_ms};
}

void shedding_turn(struct shedding *shedding, int64_t now_ms, int64_t ended_ms, int64_t redis_ms)
{
    /* Events that were not ready at the last epoll call became ready after it. */
    if (!shedding->left_some) {
        shedding->ready_since_ms = shedding->looked_at_ms;
    }
    /* If epoll had to wait, nothing was ready. */
    lateness_note(&shedding->turns, now_ms > ended_ms ? 0 : ended_ms - shedding->ready_since_ms,
                  now_ms);
    lateness_note(&shedding->redis, redis_ms, now_ms);
    shedding->looked_at_ms = now_ms;
    shedding->left_some = false;
}

static void count(enum shed_kind kind)
{
    static const enum metric COUNTERS[] = {
        [SHED_POLL] = METRIC_SHED_POLLS,   [SHED_ENTRY] = METRIC_SHED_ENTRIES,
        [SHED_ROOM] = METRIC_SHED_ENTRIES, [SHED_READ] = METRIC_SHED_READS,
        [SHED_ORDER] = METRIC_SHED_ORDERS,
    };

    if (kind != SHED_NEVER) {
        metrics_add(COUNTERS[kind], 1);
    }
}

bool shedding_by_turns(const struct shedding *shedding, enum shed_kind kind)
{
    return is_beyond(shedding->settings, kind, lateness_ms(&shedding->turns));
}

/* A connection on which a command has waited for redis_timeout_ms is dropped, and everything in
 * flight on it ends without an answer: shortly before that, nothing is added. */
static bool is_beyond_for_redis(const struct shedding *shedding, enum shed_kind kind)
{
    int64_t late_ms = lateness_ms(&shedding->redis);
    bool is_nearly_over = late_ms * 5 >= shedding->settings->redis_timeout_ms * 4;

    return is_beyond(shedding->settings, kind, late_ms) ||
           (is_nearly_over && limit_ms(shedding->settings, kind) > 0);
}

bool shedding_by_redis(const struct shedding *shedding, enum shed_kind kind)
{
    bool is_refused = is_beyond_for_redis(shedding, kind) || shedding_by_turns(shedding, kind);

    if (is_refused) {
        count(kind);
    }
    return is_refused;
}

bool shedding_by_wait(const struct settings *settings, enum shed_kind kind, int64_t waited_ms)
{
    return is_beyond(settings, kind, waited_ms);
}

void shedding_answer(enum pool pool, enum shed_kind kind, const struct request *request,
                     struct response *response)
{
    enum problem problem = pool == POOL_ORDER     ? PROBLEM_ORDERS_UNAVAILABLE
                           : pool == POOL_CATALOG ? PROBLEM_CATALOG_UNAVAILABLE
                                                  : PROBLEM_ADMISSION_UNAVAILABLE;

    count(kind);
    problem_answer(request, response, problem,
                   "There are too many requests at the moment. No place and no token is lost.");
}
