/*
 * GET /_sluice/check — may this request pass? The target of nginx's auth_request, for nginx
 * alone.
 *
 * Request   see visit.h
 * Reply     204 pass, 401 not; the reason as X-Sluice-Verdict; at most one Set-Cookie (nginx
 *           forwards one), and never another status (nginx would turn it into 500)
 * Errors    none: without Redis no verdict is an error, see below
 * Touches   lua/gate/gate_view.lua at most every 0.4 s per worker; lua/gate/gate_check.lua for a
 *           pass that is due for renewal and for a visitor without one; lua/line/enter.lua if the
 *           queue admits while idle; lua/gate/gate_watch.lua; sluice:tenures for a queue that Redis
 *           does not know
 *
 * Without Redis no one is admitted, and admitted visitors stay until the end of the visit that the
 * pass names. The same holds while Redis has lost its data, until the queue is restored.
 */
#include "fcgi-app/gate/gate_decision.h"
#include "fcgi-app/gate/visit.h"
#include "fcgi-app/pool/line_handler.h"
#include "lib/base/digest.h"

enum stage { LOOKING, RECALLING, CHECKING, ENTERING, WATCHING };

/* One request being judged, on the stack. */
struct gate_call {
    const struct services *services;
    const struct request *request;
    struct visit *visit;
    struct response *response;
};

static struct redis_command *answer(const struct gate_call *call, bool through, const char *verdict)
{
    call->response->status = through ? 204 : 401;
    response_header(call->response, "X-Sluice-Verdict", str_of(verdict));
    return NULL;
}

static struct redis_command *through(const struct gate_call *call, const char *verdict)
{
    return answer(call, true, verdict);
}

static struct redis_command *refuse(const struct gate_call *call, const char *verdict)
{
    return answer(call, false, verdict);
}

static struct redis_command *ask(const struct gate_call *call, enum stage stage,
                                 struct redis_command *command)
{
    call->visit->stage = stage;
    return command;
}

static struct redis_command *enter_at_once(const struct gate_call *call)
{
    return ask(call, ENTERING,
               line_enter(call->request->arena, visit_line_caller(call->visit, call->request),
                          LINE_AT_ONCE));
}

static struct redis_command *watch(const struct gate_call *call)
{
    struct visit *visit = call->visit;

    if (visit->id.n == 0) {
        visit_make_visitor(call->services, call->request, call->response, visit, false);
    }
    return ask(call, WATCHING, gate_watch(call->request->arena, visit->queue, visit->id));
}

static struct redis_command *apply(const struct gate_call *call, struct gate_decision decision)
{
    struct visit *visit = call->visit;
    const struct gate_caller caller = visit_gate_caller(visit);

    switch (decision.step) {
    case GATE_THROUGH:
        return through(call, decision.verdict);
    case GATE_REFUSE:
        return refuse(call, decision.verdict);
    case GATE_WATCH:
        return watch(call);
    case GATE_CHECK:
        return ask(call, CHECKING, gate_check(call->request->arena, &caller));
    case GATE_ENTER:
        visit_make_visitor(call->services, call->request, call->response, visit, true);
        return enter_at_once(call);
    }
    return refuse(call, "unavailable");
}

/* Answers, or returns the command whose reply is needed first. Most requests carry a valid pass:
 * then nothing else is read. */
static struct redis_command *decide(const struct gate_call *call)
{
    if (visit_identify_by_pass(call->services, call->request, call->visit)) {
        const struct gate_decision decision = gate_decide(call->visit);
        if (decision.step == GATE_THROUGH || decision.step == GATE_REFUSE) {
            return apply(call, decision);
        }
    }
    visit_identify(call->services, call->request, call->visit);
    return apply(call, gate_decide(call->visit));
}

struct redis_command *gate_check_begin(const struct services *services,
                                       const struct request *request, struct response *response,
                                       void **memory)
{
    struct visit *visit = visit_read(request);
    const struct gate_call call = {services, request, visit, response};

    *memory = visit;
    if (visit == NULL) {
        return refuse(&call, "not-configured");
    }
    if (gate_cache_is_due(visit->queue, visit->now_ms)) {
        return ask(&call, LOOKING, gate_look(request->arena, visit->queue));
    }
    visit->known = gate_cache_find(visit->queue);
    return decide(&call);
}

/* This process has no entry of the queue, and Redis cannot say what it is: the pass is all there is
 * to judge by, by this host's clock. */
static struct redis_command *judge_by_pass(const struct gate_call *call)
{
    const struct visit *visit = call->visit;

    visit_identify(call->services, call->request, call->visit);
    bool counts = visit->has_pass && visit->pass.kind != GATE_PASS_WATCHED;
    return counts ? through(call, "pass") : refuse(call, "unavailable");
}

static struct redis_command *looked(const struct gate_call *call, const redisReply *reply)
{
    struct visit *visit = call->visit;

    visit->known = gate_cache_put(visit->queue, reply, visit->now_ms);
    if (visit->known != NULL) {
        return decide(call);
    }
    if (line_settings_missing(reply)) {
        return ask(call, RECALLING, line_memory_ask(call->request->arena));
    }
    return outcome_of(reply) == OUTCOME_NOT_FOUND ? decide(call) : judge_by_pass(call);
}

/* The settings are missing: the queue was never created, or Redis has lost it. */
static struct redis_command *recalled(const struct gate_call *call, const redisReply *reply)
{
    return call->visit->known != NULL || line_memory_is_there(reply) ? decide(call)
                                                                     : judge_by_pass(call);
}

static struct redis_command *without_redis(const struct gate_call *call)
{
    return gate_pass_counts(call->visit) ? through(call, "pass") : refuse(call, "unavailable");
}

static struct redis_command *checked(const struct gate_call *call, const redisReply *reply)
{
    struct gate_admission admission;

    switch (gate_read_check(reply, &admission)) {
    case OUTCOME_ADMITTED:
        visit_set_pass(call->services, call->request, call->response, call->visit, &admission,
                       GATE_PASS_ADMITTED);
        return through(call, "pass");
    case OUTCOME_WAIT:
        return gate_may_enter_at_once(call->visit) ? enter_at_once(call) : refuse(call, "wait");
    case OUTCOME_HELD:
        return refuse(call, "hold");
    case OUTCOME_UNAUTHENTICATED:
        return refuse(call, "wait");
    default:
        return without_redis(call);
    }
}

/* The answer carries one cookie: a new visitor gets the visitor cookie first, by which the next
 * request gets its pass. Until then the place is short-lived, as the browser may not keep
 * cookies. */
static struct redis_command *entered(const struct gate_call *call, const redisReply *reply)
{
    struct line_position position;
    enum outcome outcome = line_read_position(reply, &position);
    char admission[SHA256_TEXT + 1];

    if ((outcome != OUTCOME_ENTERED && outcome != OUTCOME_ALREADY) ||
        position.status != LINE_READY) {
        return refuse(call, outcome == OUTCOME_ADMISSION_UNAVAILABLE ? "unavailable" : "wait");
    }
    if (call->visit->is_new) {
        return through(call, "pass");
    }
    sha256_text(position.entry_token, admission);
    const struct gate_admission given = {
        .admission = str_of(admission),
        .seq = position.seq,
        .generation = position.generation,
        .epoch = position.epoch,
        .incarnation = position.incarnation,
        .now_ms = position.now_ms,
        .ends_ms = position.token_ends_ms,
    };
    visit_set_pass(call->services, call->request, call->response, call->visit, &given,
                   GATE_PASS_ADMITTED);
    return through(call, "pass");
}

static struct redis_command *watched(const struct gate_call *call, const redisReply *reply)
{
    struct gate_admission admission;

    if (gate_read_watch(reply, &admission) == OUTCOME_WATCHED) {
        visit_set_pass(call->services, call->request, call->response, call->visit, &admission,
                       GATE_PASS_WATCHED);
    }
    return through(call, "watch");
}

void gate_check_finish(const struct services *services, const struct request *request,
                       const redisReply *reply, void *memory, struct response *response)
{
    const struct gate_call call = {services, request, memory, response};

    if (call.visit->stage != LOOKING) {
        /* Other requests may have added or evicted the entry meanwhile. */
        call.visit->known = gate_cache_find(call.visit->queue);
        if (call.visit->known == NULL && call.visit->stage != RECALLING) {
            (void)refuse(&call, "unavailable");
            return;
        }
    }
    switch ((enum stage)call.visit->stage) {
    case LOOKING:
        response->follow_up = looked(&call, reply);
        break;
    case RECALLING:
        response->follow_up = recalled(&call, reply);
        break;
    case CHECKING:
        response->follow_up = checked(&call, reply);
        break;
    case ENTERING:
        response->follow_up = entered(&call, reply);
        break;
    case WATCHING:
        response->follow_up = watched(&call, reply);
        break;
    }
}
