/*
 * GET /livez and its alias /healthz — this process lives and answers. It looks at nothing else: an
 * outage of Redis or PostgreSQL is not cured by a restart.
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
