#include "fcgi-app/http/caller.h"

#include "fcgi-app/http/cookie.h"
#include "fcgi-app/http/operator_keys.h"
#include "fcgi-app/http/problem.h"
#include "fcgi-app/http/request_log.h"
#include "lib/base/clock.h"
#include "lib/identity/member_jwt.h"
#include "lib/identity/visitor.h"

static const char WHY_NOBODY[] = "There is neither an Authorization header nor a visitor cookie.";
static const char WHY_SCHEME[] = "The Authorization header must have the form Bearer <JWT>.";

static const char VISITOR_COOKIE[] = "sluice_visitor";

static bool identify_member(const struct services *services, const struct request *request,
                            struct caller *caller, const char **why)
{
    struct str token = request_bearer(request);
    struct member member;

    if (token.n == 0) {
        *why = WHY_SCHEME;
        return false;
    }
    enum member_outcome outcome =
        member_jwt_verify(services->members, token, clock_wall_ms(), &member);
    if (outcome != MEMBER_VALID) {
        *why = arena_format(request->arena, "The member JWT is refused: %s.",
                            member_outcome_reason(outcome));
        return false;
    }
    struct str id = str_of(member.id);
    *caller = (struct caller){.id = str_sized(arena_copy(request->arena, id), id.n)};
    return true;
}

struct visitor_look {
    const struct services *services;
    char id[VISITOR_ID_TEXT + 1];
};

static bool visitor_is_good(struct str cookie, void *context)
{
    struct visitor_look *look = context;

    return visitor_cookie_verify(look->services->visitor_keys, cookie,
                                 look->services->settings->visitor_ttl_seconds, clock_wall_ms(),
                                 look->id);
}

static bool identify_visitor(const struct services *services, const struct request *request,
                             struct caller *caller, const char **why)
{
    struct visitor_look look = {.services = services};

    if (services->visitor_keys == NULL ||
        !cookie_find(services, request, VISITOR_COOKIE, visitor_is_good, &look)) {
        *why = WHY_NOBODY;
        return false;
    }
    *caller = (struct caller){
        .id = str_sized(arena_copy(request->arena, str_sized(look.id, VISITOR_ID_TEXT)),
                        VISITOR_ID_TEXT),
        .is_visitor = true,
    };
    return true;
}

bool caller_identify_visitor(const struct services *services, const struct request *request,
                             struct caller *caller)
{
    const char *why;

    return identify_visitor(services, request, caller, &why);
}

bool caller_identify(const struct services *services, const struct request *request,
                     struct caller *caller, const char **why)
{
    const char *reason = NULL;
    bool known = request->authorization.n > 0
                     ? identify_member(services, request, caller, &reason)
                     : identify_visitor(services, request, caller, &reason);

    if (known) {
        request_log_member(caller->id);
    } else if (why != NULL) {
        *why = reason;
    }
    return known;
}

bool caller_require(const struct services *services, const struct request *request,
                    struct response *response, struct caller *caller)
{
    const char *why = NULL;

    if (caller_identify(services, request, caller, &why)) {
        return true;
    }
    problem_answer(request, response, PROBLEM_UNAUTHENTICATED, "%s", why);
    return false;
}

void caller_set_visitor(const struct services *services, const struct request *request,
                        struct response *response, struct str id)
{
    char cookie[VISITOR_COOKIE_TEXT + 1];
    size_t length = visitor_cookie_make(services->visitor_keys, id, clock_wall_ms(), cookie);

    cookie_set(services, request, response, VISITOR_COOKIE, str_sized(cookie, length),
               services->settings->visitor_ttl_seconds);
}

void caller_new_visitor(const struct services *services, const struct request *request,
                        struct response *response, struct caller *caller)
{
    char *id = arena_alloc(request->arena, VISITOR_ID_TEXT + 1);

    visitor_id_new(id);
    *caller = (struct caller){.id = str_sized(id, VISITOR_ID_TEXT), .is_visitor = true};
    request_log_member(caller->id);
    caller_set_visitor(services, request, response, caller->id);
}

bool caller_require_operator(const struct services *services, const struct request *request,
                             struct response *response, enum operator_role least,
                             const char **actor)
{
    enum operator_role role = operator_keys_role(services->operators, request_bearer(request));

    if (role == OPERATOR_NONE) {
        problem_answer(request, response, PROBLEM_UNAUTHENTICATED,
                       "Send Authorization: Bearer with the operator's key.");
        return false;
    }
    if (role < least) {
        problem_answer(request, response, PROBLEM_FORBIDDEN,
                       "The viewer's key permits only reading.");
        return false;
    }
    *actor = role == OPERATOR_FULL ? "operator" : "viewer";
    return true;
}
