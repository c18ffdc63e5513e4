/*
 * GET /metrics — the metrics of this host, all programs together, in Prometheus' format. The same
 * in every pool, and read from memory alone: a scrape queries neither Redis nor PostgreSQL.
 *
 * Reply     200 text/plain
 * Errors    none
 * Touches   the memory that the programs of this host share
 */
#include "fcgi-app/pool/handler.h"
#include "lib/metrics/metrics_text.h"

void get_metrics(const struct services *services, const struct request *request,
                 struct response *response)
{
    (void)services;
    (void)request;
    response->content_type = "text/plain; version=0.0.4; charset=utf-8";
    metrics_format(&response->body);
}
