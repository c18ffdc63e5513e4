/*
 * catalog_answer — answers a route that returns one object of the catalogue as it is cached.
 */
#ifndef SLUICE_CATALOG_CATALOG_ANSWER_H
#define SLUICE_CATALOG_CATALOG_ANSWER_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"
#include "lib/catalog/catalog.h"

/** Answers 200 with the object and its ETag, 304, 404 NOT_FOUND or 503 CATALOG_UNAVAILABLE. Any
 *  cache may store it and must revalidate it. */
void catalog_answer(const struct services *services, const struct request *request,
                    struct response *response, enum catalog_kind kind, struct str id);

/** Answers 404 for NONE, 503 for UNAVAILABLE; `what` is "show" or "concert". */
void catalog_answer_failure(const struct request *request, struct response *response,
                            enum catalog_outcome outcome, const char *what);

#endif
