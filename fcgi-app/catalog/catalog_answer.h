/*
 * catalog_answer — the answer of a route that shows one object of the catalogue as it is kept.
 */
#ifndef SLUICE_CATALOG_CATALOG_ANSWER_H
#define SLUICE_CATALOG_CATALOG_ANSWER_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"
#include "lib/catalog/catalog.h"

/** 200 with the object and its ETag, 304, 404 NOT_FOUND or 503 CATALOG_UNAVAILABLE. Anyone may
 *  keep it and must ask whether it is still good. */
void catalog_answer(const struct services *services, const struct request *request,
                    struct response *response, enum catalog_kind kind, struct str id);

/** 404 for NONE, 503 for UNAVAILABLE; `what` is "show" or "concert". */
void catalog_answer_failure(const struct request *request, struct response *response,
                            enum catalog_outcome outcome, const char *what);

#endif
