/*
 * object_list — shared by the operators' routes that list products, coupon events, concerts and
 * shows.
 */
#ifndef SLUICE_OPERATOR_OBJECT_LIST_H
#define SLUICE_OPERATOR_OBJECT_LIST_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"
#include "lib/database/goods/object_pages.h"

/** Answers GET …[?after=ID] with {"NAME": [object, …], "next": `after` of the next page, or null}.
 *  For viewers too. */
void object_list_answer(const struct services *services, const struct request *request,
                        struct response *response, enum object_kind kind, const char *name);

#endif
