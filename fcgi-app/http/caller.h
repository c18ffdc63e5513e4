/*
 * caller — identifies the sender of a request: a member by JWT, a visitor by signed cookie, an
 * operator by key.
 */
#ifndef SLUICE_HTTP_CALLER_H
#define SLUICE_HTTP_CALLER_H

#include <stdbool.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"

struct caller {
    struct str id;   /* member id, or visitor id (`v~…`); lives in the request's arena */
    bool is_visitor; /* identified by the visitor cookie alone */
};

enum operator_role { OPERATOR_NONE, OPERATOR_VIEWER, OPERATOR_FULL };

/** The member of a valid Authorization header; without that header, the visitor of a valid cookie.
 *  Returns false for neither. A bad Authorization header is never ignored in favour of a cookie:
 *  `*why` (may be NULL) gets a sentence. */
bool caller_identify(const struct services *services, const struct request *request,
                     struct caller *caller, const char **why);

/** The visitor of a valid visitor cookie, ignoring Authorization: behind the gate that header
 *  belongs to the site. */
bool caller_identify_visitor(const struct services *services, const struct request *request,
                             struct caller *caller);

/** As caller_identify(), and answers 401 UNAUTHENTICATED if there is no caller. */
bool caller_require(const struct services *services, const struct request *request,
                    struct response *response, struct caller *caller);

/** Creates a visitor: an id and its cookie (`__Host-sluice_visitor` with Secure if the request came
 *  by TLS or cookie_secure is set, else `sluice_visitor`; HttpOnly, SameSite=Lax, Path=/). */
void caller_new_visitor(const struct services *services, const struct request *request,
                        struct response *response, struct caller *caller);

/** Sets the visitor cookie for an existing id. */
void caller_set_visitor(const struct services *services, const struct request *request,
                        struct response *response, struct str id);

/** Answers 401 without a known operator key (Authorization: Bearer, compared in constant time), 403
 *  if the role is less than `least`. `actor` gets "operator" or "viewer". */
bool caller_require_operator(const struct services *services, const struct request *request,
                             struct response *response, enum operator_role least,
                             const char **actor);

#endif
