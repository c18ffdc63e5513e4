/*
 * GET /v1/shows/{show} — a show, without its seats.
 *
 * Reply     200 {"id", "concert", "startsAt", "queue", "maxSeatsPerMember", "holdTtlSeconds",
 *           "currency", "seats", "priceFrom": {"amount", "currency"}, "priceTo", "version"}, with
 *           an ETag; 304 if If-None-Match names it. seats counts those of the plan; prices and
 *           currency are null while there are none
 * Errors    404 NOT_FOUND, 503 CATALOG_UNAVAILABLE
 * Touches   the catalogue's cache; sql/queries/catalog/catalog_show.sql if that has expired
 */
#include "fcgi-app/catalog/catalog_answer.h"
#include "fcgi-app/pool/handler.h"

void get_show(const struct services *services, const struct request *request,
              struct response *response)
{
    catalog_answer(services, request, response, CATALOG_SHOW, request->parameters[0]);
}
