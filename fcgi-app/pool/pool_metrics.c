#include "fcgi-app/pool/pool_metrics.h"

#include <stdio.h>

static const struct {
    const char *name;
    enum metric seen;
} POOLS[] = {
    [POOL_QUEUE] = {"queue", METRIC_SEEN_QUEUE_POOL},
    [POOL_ORDER] = {"order", METRIC_SEEN_ORDER_POOL},
    [POOL_OPERATOR] = {"operator", METRIC_SEEN_OPERATOR_POOL},
    [POOL_CATALOG] = {"catalog", METRIC_SEEN_CATALOG_POOL},
    [POOL_PAYMENT] = {"payment", METRIC_SEEN_PAYMENT_POOL},
};

static const char *const METHODS[] = {
    [METHOD_GET] = "GET",    [METHOD_HEAD] = "HEAD",   [METHOD_POST] = "POST",
    [METHOD_PUT] = "PUT",    [METHOD_PATCH] = "PATCH", [METHOD_DELETE] = "DELETE",
    [METHOD_OTHER] = "OTHER"};

/* Looked up once a process; 0: not yet. A process belongs to one pool. */
static int rows_plus_two[ROUTES_MAX];

static int row_of(enum pool pool, const struct route *route)
{
    int *row = &rows_plus_two[router_number(route)];
    char labels[METRIC_REQUESTS_NAME];

    if (*row == 0) {
        int length = snprintf(labels, sizeof(labels), "pool=\"%s\",method=\"%s\",route=\"%s\"",
                              POOLS[pool].name, route == NULL ? "any" : METHODS[route->method],
                              route == NULL ? "none" : route->path);
        bool fits = length > 0 && length < (int)sizeof(labels);
        *row = (fits ? metrics_requests_row(labels) : -1) + 2;
    }
    return *row - 2;
}

void pool_metrics_count(enum pool pool, const struct route *route, enum metric_class class,
                        int64_t us)
{
    metrics_requests_add(row_of(pool, route), class, us);
}

void pool_metrics_beat(enum pool pool)
{
    metrics_set_now(POOLS[pool].seen);
}
