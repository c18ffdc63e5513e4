/*
 * GET /v1/concerts/{concert} — a concert and its shows, soonest first; at most 1000 of them.
 *
 * Reply     200 {"id", "title", "venue", "description", "version", "shows": [{"id", "startsAt",
 *           "queue"}]}, with an ETag; 304 if If-None-Match names it
 * Errors    404 NOT_FOUND, 503 CATALOG_UNAVAILABLE
 * Touches   the catalogue's cache; sql/queries/catalog/catalog_concert.sql if that has expired
 */
#include "fcgi-app/catalog/catalog_answer.h"
#include "fcgi-app/pool/handler.h"

void get_concert(const struct services *services, const struct request *request,
                 struct response *response)
{
    catalog_answer(services, request, response, CATALOG_CONCERT, request->parameters[0]);
}
