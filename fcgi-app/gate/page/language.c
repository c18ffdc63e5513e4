/*
 * GET /_sluice/language/{lang} — chooses the language of the waiting page, also without scripts.
 *
 * Reply     303 back to the page of this host that the Referer names, else to /; sets the cookie
 *           sluice_language
 * Errors    404 NOT_FOUND for a language that the page does not have
 * Touches   nothing: neither Redis nor PostgreSQL
 */
#include "fcgi-app/gate/page/waiting_page.h"
#include "fcgi-app/gate/page_address.h"
#include "fcgi-app/http/problem.h"
#include "fcgi-app/pool/line_handler.h"

struct redis_command *language_begin(const struct services *services, const struct request *request,
                                     struct response *response, void **memory)
{
    struct str language = request->parameters[0];

    (void)memory;
    if (!waiting_page_has(services->waiting_page, language)) {
        problem_answer(request, response, PROBLEM_NOT_FOUND, "The page has no such language.");
        return NULL;
    }
    response->status = 303;
    response_header(response, "Location", page_address(request));
    response_header(response, "Set-Cookie",
                    str_of(arena_format(request->arena,
                                        "sluice_language=%.*s; Path=/; Max-Age=31536000; "
                                        "SameSite=Lax",
                                        STR_ARG(language))));
    return NULL;
}

void language_finish(const struct services *services, const struct request *request,
                     const redisReply *reply, void *memory, struct response *response)
{
    (void)services;
    (void)request;
    (void)reply;
    (void)memory;
    (void)response;
}
