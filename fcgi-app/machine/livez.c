/*
 * GET /livez and its alias /healthz — this process is alive and answers. It checks nothing else: a
 * restart does not cure an outage of Redis or PostgreSQL.
 *
 * Reply     200 {"status": "ok"}
 * Errors    none
 * Touches   nothing: neither Redis nor PostgreSQL
 */
#include "fcgi-app/pool/handler.h"

void livez(const struct services *services, const struct request *request,
           struct response *response)
{
    (void)services;
    (void)request;
    response_json(response, 200);
    buffer_add(&response->body, STR("{\"status\":\"ok\"}"));
}
