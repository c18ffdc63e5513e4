#include "fcgi-app/gate/visit.h"

#include "fcgi-app/http/caller.h"
#include "fcgi-app/http/cookie.h"
#include "fcgi-app/http/request_log.h"
#include "fcgi-app/queue/ticket_cookie.h"
#include "lib/base/clock.h"
#include "lib/base/identifier.h"
#include "lib/base/log.h"
#include "lib/identity/visitor.h"

enum { HEADER_MAX = 1024, PATH_MAX_BYTES = 8 * 1024, ADDRESS_MAX = 64, METHOD_MAX = 32 };

static const char *pass_name(const struct request *request, struct str queue)
{
    return arena_join(request->arena, STR("sluice_pass-"), queue);
}

/* A value that is too long is left out, and so lets no one through. */
static struct client_headers read_parameters(const struct request *request, struct visit *visit,
                                             struct str *member)
{
    struct client_headers headers = {0};
    const struct request_parameter wanted[] = {
        {STR("SLUICE_QUEUE"), &visit->queue, SLUG_MAX},
        {STR("SLUICE_METHOD"), &headers.method, METHOD_MAX},
        {STR("SLUICE_PATH"), &visit->facts.path, PATH_MAX_BYTES},
        {STR("SLUICE_MEMBER"), member, HEADER_MAX},
        {STR("REMOTE_ADDR"), &visit->facts.address, ADDRESS_MAX},
        {STR("HTTP_USER_AGENT"), &visit->facts.user_agent, HEADER_MAX},
        {STR("HTTP_X_SLUICE_BYPASS"), &visit->facts.secret, HEADER_MAX},
        {STR("HTTP_ORIGIN"), &visit->origin, HEADER_MAX},
        {STR("HTTP_ACCEPT"), &headers.accept, HEADER_MAX},
        {STR("HTTP_SEC_FETCH_MODE"), &headers.sec_fetch_mode, HEADER_MAX},
        {STR("HTTP_SEC_FETCH_DEST"), &headers.sec_fetch_dest, HEADER_MAX},
        {STR("HTTP_SEC_PURPOSE"), &headers.sec_purpose, HEADER_MAX},
        {STR("HTTP_PURPOSE"), &headers.purpose, HEADER_MAX},
        {STR("HTTP_X_PURPOSE"), &headers.x_purpose, HEADER_MAX},
        {STR("HTTP_X_MOZ"), &headers.x_moz, HEADER_MAX},
        {STR("HTTP_X_REQUESTED_WITH"), &headers.x_requested_with, HEADER_MAX},
        {STR("HTTP_ACCESS_CONTROL_REQUEST_METHOD"), &headers.access_control_request_method,
         METHOD_MAX},
    };

    (void)request_parameters(request, wanted, sizeof(wanted) / sizeof(wanted[0]));
    return headers;
}

struct pass_look {
    const struct services *services;
    struct visit *visit;
    int64_t now_ms; /* Redis TIME, or this host's clock without a cache entry */
};

/* An expired pass is refused, so that passes collected over a day are worthless. */
static bool pass_is_good(struct str value, void *context)
{
    const struct pass_look *look = context;
    struct visit *visit = look->visit;

    return gate_pass_verify(look->services->ticket_keys, value, visit->queue, &visit->pass) ==
               GATE_PASS_VALID &&
           visit->pass.ends_ms > look->now_ms;
}

static void read_pass(const struct services *services, const struct request *request,
                      struct visit *visit)
{
    struct pass_look look = {
        services, visit,
        visit->known == NULL ? clock_wall_ms() : gate_cache_redis_ms(visit->known, visit->now_ms)};

    visit->has_pass =
        cookie_find(services, request, pass_name(request, visit->queue), pass_is_good, &look);
}

static void read_ticket(const struct services *services, const struct request *request,
                        struct visit *visit)
{
    struct str value = ticket_cookie_read(services, request, visit->queue);

    visit->has_ticket =
        value.n > 0 &&
        queue_ticket_verify(services->ticket_keys, value, visit->queue, clock_wall_ms(),
                            request->arena, &visit->ticket) == QUEUE_TICKET_VALID;
}

static void identify_member(struct visit *visit)
{
    if (visit->site_member.n > 0 && !identifier_is_member(visit->site_member)) {
        log_event(LOG_LEVEL_ERROR, "gate.member_refused",
                  LOG_FIELDS(LOG_STR("queue", visit->queue)));
        return;
    }
    visit->id = visit->site_member;
}

static void identify_visitor(const struct services *services, const struct request *request,
                             struct visit *visit)
{
    struct caller visitor = {0};
    bool has_cookie = caller_identify_visitor(services, request, &visitor);
    bool watched = visit->has_pass && visit->pass.kind == GATE_PASS_WATCHED;

    /* By precedence: a watched pass comes last. NOLINTNEXTLINE(bugprone-branch-clone) */
    if (visit->has_pass && !watched && visitor_id_is(visit->pass.subject)) {
        visit->id = visit->pass.subject;
    } else if (visit->has_ticket && visitor_id_is(visit->ticket.subject)) {
        visit->id = visit->ticket.subject;
    } else if (has_cookie) {
        visit->id = visitor.id;
    } else if (watched && visitor_id_is(visit->pass.subject)) {
        visit->id = visit->pass.subject;
    }
    visit->lacks_cookie = visit->id.n > 0 && !str_equal(visitor.id, visit->id);
}

struct visit *visit_read(const struct request *request)
{
    struct visit *visit = arena_alloc(request->arena, sizeof(*visit));

    *visit = (struct visit){.now_ms = clock_monotonic_ms()};
    const struct client_headers headers = read_parameters(request, visit, &visit->site_member);
    if (!identifier_is_slug(visit->queue)) {
        log_event(LOG_LEVEL_ERROR, "gate.no_queue", LOG_FIELDS(LOG_STR("queue", visit->queue)));
        return NULL;
    }
    visit->kind = client_kind(&headers);
    if (visit->kind == CLIENT_PREFLIGHT && visit->origin.n == 0) {
        visit->kind = CLIENT_APP; /* not sent by a browser */
    }
    visit->is_get = str_equal(headers.method, STR("GET"));
    visit->is_safe = visit->is_get || str_equal(headers.method, STR("HEAD")) ||
                     str_equal(headers.method, STR("OPTIONS"));
    return visit;
}

/* In a worker that does not know the queue yet, a pass or ticket signed for it says whom it is for:
 * a site may name its members behind a queue for visitors too. */
static bool is_for_visitors(const struct visit *visit)
{
    if (visit->known != NULL) {
        return visit->known->view.for_visitors;
    }
    if (visit->has_pass) {
        return visitor_id_is(visit->pass.subject);
    }
    return visit->has_ticket ? visitor_id_is(visit->ticket.subject) : visit->site_member.n == 0;
}

bool visit_identify_by_pass(const struct services *services, const struct request *request,
                            struct visit *visit)
{
    struct str owner = visit->site_member;

    read_pass(services, request, visit);
    if (!visit->has_pass || visit->pass.kind == GATE_PASS_WATCHED) {
        return false;
    }
    if (is_for_visitors(visit)) {
        owner = visit->pass.subject;
    }
    bool may_be = is_for_visitors(visit) ? visitor_id_is(owner) : identifier_is_member(owner);
    if (!may_be || !str_equal(visit->pass.subject, owner)) {
        return false;
    }
    visit->id = owner;
    request_log_member(visit->id);
    return true;
}

void visit_identify(const struct services *services, const struct request *request,
                    struct visit *visit)
{
    read_pass(services, request, visit);
    read_ticket(services, request, visit);
    if (is_for_visitors(visit)) {
        identify_visitor(services, request, visit);
    } else {
        identify_member(visit);
    }
    /* A pass or ticket of another owner is ignored. */
    visit->has_pass = visit->has_pass && str_equal(visit->pass.subject, visit->id);
    visit->has_ticket = visit->has_ticket && str_equal(visit->ticket.subject, visit->id);
    request_log_member(visit->id);
}

void visit_keep_visitor(const struct services *services, const struct request *request,
                        struct response *response, const struct visit *visit)
{
    if (visit->lacks_cookie && !visit->is_new) {
        caller_set_visitor(services, request, response, visit->id);
    }
}

void visit_make_visitor(const struct services *services, const struct request *request,
                        struct response *response, struct visit *visit, bool cookie)
{
    visit->is_new = true;
    if (cookie) {
        struct caller caller;
        caller_new_visitor(services, request, response, &caller);
        visit->id = caller.id;
    } else {
        char *id = arena_alloc(request->arena, VISITOR_ID_TEXT + 1);
        visitor_id_new(id);
        visit->id = str_sized(id, VISITOR_ID_TEXT);
    }
}

struct line_caller *visit_line_caller(const struct visit *visit, const struct request *request)
{
    struct line_caller *caller = arena_alloc(request->arena, sizeof(*caller));

    *caller = (struct line_caller){
        .queue = visit->queue,
        .member = visit->id,
        .by_visitor = visitor_id_is(visit->id),
        .is_unproven = visit->is_new,
    };
    if (visit->has_ticket) {
        caller->has_ticket = true;
        caller->seq = visit->ticket.seq;
        caller->generation = visit->ticket.generation;
        caller->epoch = visit->ticket.epoch;
        caller->incarnation = visit->ticket.incarnation;
        caller->lane = visit->ticket.lane;
    }
    return caller;
}

/* The owner has entered again since: the pass is of a visit that has ended. */
static bool ticket_is_later(const struct visit *visit)
{
    return visit->has_ticket && visit->ticket.epoch == visit->pass.epoch &&
           visit->ticket.seq > visit->pass.seq;
}

struct gate_caller visit_gate_caller(const struct visit *visit)
{
    struct gate_caller caller = {.queue = visit->queue, .member = visit->id};

    /* After a loss of Redis's data the pass would restore a number below the ticket's, which would
     * revoke the ticket. */
    if (visit->has_pass && visit->pass.kind != GATE_PASS_WATCHED && !ticket_is_later(visit)) {
        caller.has_pass = true;
        caller.admission = visit->pass.admission;
        caller.seq = visit->pass.seq;
        caller.generation = visit->pass.generation;
        caller.epoch = visit->pass.epoch;
        caller.incarnation = visit->pass.incarnation;
        if (visit->has_ticket && visit->ticket.epoch == visit->pass.epoch &&
            visit->ticket.seq == visit->pass.seq) {
            caller.lane = visit->ticket.lane;
        }
    }
    return caller;
}

void visit_set_pass(const struct services *services, const struct request *request,
                    struct response *response, const struct visit *visit,
                    const struct gate_admission *admission, enum gate_pass_kind kind)
{
    const struct gate_pass pass = {
        .queue = visit->queue,
        .subject = visit->id,
        .admission = admission->admission,
        .epoch = admission->epoch,
        .incarnation = admission->incarnation,
        .seq = admission->seq,
        .generation = admission->generation,
        .renewed_ms = admission->now_ms,
        .ends_ms = admission->ends_ms,
        .kind = (char)kind,
    };
    char value[GATE_PASS_TEXT + 1];
    size_t length = gate_pass_make(services->ticket_keys, &pass, value);

    if (length == 0) {
        log_event(LOG_LEVEL_ERROR, "gate.pass_not_signed",
                  LOG_FIELDS(LOG_STR("queue", visit->queue), LOG_INT("seq", admission->seq)));
        return;
    }
    int64_t life_s = (admission->ends_ms - admission->now_ms) / 1000 + 1;
    cookie_set(services, request, response, pass_name(request, visit->queue),
               str_sized(value, length), life_s);
}
