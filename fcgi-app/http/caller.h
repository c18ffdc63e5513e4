/*
 * caller — who sends a request: a member by JWT, a visitor by signed cookie, an operator by key.
 */
#ifndef SLUICE_HTTP_CALLER_H
#define SLUICE_HTTP_CALLER_H

#include <stdbool.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"

struct caller {
    struct str id;   /* member id, or visitor id (`v~…`); lives in the request's arena */
    bool is_visitor; /* known by the visitor cookie alone */
};

enum operator_role { OPERATOR_NONE, OPERATOR_VIEWER, OPERATOR_FULL };

/** The member of a valid Authorization header; else the visitor of a valid cookie, where no such
 *  header was sent. Returns false for neither. A bad Authorization header is never overlooked in
 *  favour of a cookie: `*why` (may be NULL) gets a sentence. */
bool caller_identify(const struct services *services, const struct request *request,
                     struct caller *caller, const char **why);

/** The visitor of a valid visitor cookie, whatever Authorization holds: behind the gate that
 *  header is the site's own. */
bool caller_identify_visitor(const struct services *services, const struct request *request,
                             struct caller *caller);

/** As caller_identify(), and answers 401 UNAUTHENTICATED for nobody. */
bool caller_require(const struct services *services, const struct request *request,
                    struct response *response, struct caller *caller);

/** A new visitor: gives it an id and sets its cookie (`__Host-sluice_visitor` with Secure where
 *  the request came by TLS or cookie_secure is set, else `sluice_visitor`; HttpOnly,
 *  SameSite=Lax, Path=/). */
void caller_new_visitor(const struct services *services, const struct request *request,
                        struct response *response, struct caller *caller);

/** Sets the visitor cookie for an id that is there already. */
void caller_set_visitor(const struct services *services, const struct request *request,
                        struct response *response, struct str id);

/** Answers 401 without a known operator key (Authorization: Bearer, compared in constant time),
 *  403 where the role is less than `least`. `actor` gets "operator" or "viewer". */
bool caller_require_operator(const struct services *services, const struct request *request,
                             struct response *response, enum operator_role least,
                             const char **actor);

#endif
