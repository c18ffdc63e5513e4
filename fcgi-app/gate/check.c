/*
 * GET /_sluice/check — may this request go through? The target of nginx's auth_request, for nginx alone.
 *
 * Request  see visit.h
 * Reply    204 through, 401 not; the reason as X-Sluice-Verdict; at most one Set-Cookie (nginx passes on one), and
 *          never another status (nginx would make 500 of it)
 * Touches  lua/gate_view.lua at most twice a second; lua/gate_check.lua for a pass that is due and for somebody
 *          without one; lua/enter.lua where the queue lets in while idle; lua/gate_watch.lua
 *
 * Without Redis nobody is let in, and whoever is in stays until the end of the visit that the pass names.
 */
#include "fcgi-app/gate/judgement.h"
#include "fcgi-app/gate/visit.h"
#include "fcgi-app/pool/line_handler.h"
#include "lib/base/digest.h"

enum stage { LOOKING, CHECKING, ENTERING, WATCHING };

/* One request that is judged, on the stack. */
struct judging {
    const struct services *services;
    const struct request *request;
    struct visit *visit;
    struct response *response;
};

static struct redis_command *answer(const struct judging *j, bool through, const char *verdict)
{
    j->response->status = through ? 204 : 401;
    response_header(j->response, "X-Sluice-Verdict", str_of(verdict));
    return NULL;
}

static struct redis_command *through(const struct judging *j, const char *verdict)
{
    return answer(j, true, verdict);
}

static struct redis_command *refuse(const struct judging *j, const char *verdict)
{
    return answer(j, false, verdict);
}

static struct redis_command *ask(const struct judging *j, enum stage stage,
                                 struct redis_command *command)
{
    j->visit->stage = stage;
    return command;
}

static struct redis_command *enter_at_once(const struct judging *j)
{
    return ask(
        j, ENTERING,
        line_enter(j->request->arena, visit_line_caller(j->visit, j->request), LINE_AT_ONCE));
}

static struct redis_command *watch(const struct judging *j)
{
    struct visit *visit = j->visit;

    if (visit->id.n == 0) {
        visit_make_visitor(j->services, j->request, j->response, visit, false);
    }
    return ask(j, WATCHING, gate_watch(j->request->arena, visit->queue, visit->id));
}

static struct redis_command *carry_out(const struct judging *j, struct gate_judgement judgement)
{
    struct visit *visit = j->visit;
    const struct gate_caller caller = visit_gate_caller(visit);

    switch (judgement.step) {
    case GATE_THROUGH:
        return through(j, judgement.verdict);
    case GATE_REFUSE:
        return refuse(j, judgement.verdict);
    case GATE_WATCH:
        return watch(j);
    case GATE_CHECK:
        return ask(j, CHECKING, gate_check(j->request->arena, &caller));
    case GATE_ENTER:
        visit_make_visitor(j->services, j->request, j->response, visit, true);
        return enter_at_once(j);
    }
    return refuse(j, "unavailable");
}

/* Answers, or gives the command whose reply is needed first. Most requests come with a pass that counts: nothing else is
 * looked at then. */
static struct redis_command *judge(const struct judging *j)
{
    if (visit_identify_by_pass(j->services, j->request, j->visit)) {
        const struct gate_judgement judgement = gate_judge(j->visit);
        if (judgement.step == GATE_THROUGH || judgement.step == GATE_REFUSE) {
            return carry_out(j, judgement);
        }
    }
    visit_identify(j->services, j->request, j->visit);
    return carry_out(j, gate_judge(j->visit));
}

struct redis_command *gate_check_begin(const struct services *services,
                                       const struct request *request, struct response *response,
                                       void **memory)
{
    struct visit *visit = visit_read(request);
    const struct judging j = {services, request, visit, response};

    *memory = visit;
    if (visit == NULL) {
        return refuse(&j, "not-configured");
    }
    if (gate_cache_is_due(visit->queue, visit->now_ms)) {
        return ask(&j, LOOKING, gate_look(request->arena, visit->queue));
    }
    visit->known = gate_cache_find(visit->queue);
    return judge(&j);
}

static struct redis_command *looked(const struct judging *j, const redisReply *reply)
{
    struct visit *visit = j->visit;

    visit->known = gate_cache_put(visit->queue, reply, visit->now_ms);
    if (visit->known == NULL && outcome_of(reply) != OUTCOME_NOT_FOUND) {
        visit_identify(j->services, j->request, visit);
        /* This process has just started: only the pass itself tells, by this host's clock. */
        bool counts = visit->has_pass && visit->pass.kind != GATE_PASS_WATCHED;
        return counts ? through(j, "pass") : refuse(j, "unavailable");
    }
    return judge(j);
}

static struct redis_command *without_redis(const struct judging *j)
{
    return gate_pass_counts(j->visit) ? through(j, "pass") : refuse(j, "unavailable");
}

static struct redis_command *checked(const struct judging *j, const redisReply *reply)
{
    struct gate_admission admission;

    switch (gate_read_check(reply, &admission)) {
    case OUTCOME_ADMITTED:
        visit_set_pass(j->services, j->request, j->response, j->visit, &admission,
                       GATE_PASS_ADMITTED);
        return through(j, "pass");
    case OUTCOME_WAIT:
        return gate_may_enter_at_once(j->visit) ? enter_at_once(j) : refuse(j, "wait");
    case OUTCOME_HELD:
        return refuse(j, "hold");
    case OUTCOME_UNAUTHENTICATED:
        return refuse(j, "wait");
    default:
        return without_redis(j);
    }
}

/* One cookie goes out: a new visitor's own one first, by which the next request gets its pass. Until then the place
 * is short, for the browser may not keep cookies. */
static struct redis_command *entered(const struct judging *j, const redisReply *reply)
{
    struct line_position position;
    enum outcome outcome = line_read_position(reply, &position);
    char admission[SHA256_TEXT + 1];

    if ((outcome != OUTCOME_ENTERED && outcome != OUTCOME_ALREADY) ||
        position.status != LINE_READY) {
        return refuse(j, outcome == OUTCOME_ADMISSION_UNAVAILABLE ? "unavailable" : "wait");
    }
    if (j->visit->is_new) {
        return through(j, "pass");
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
    visit_set_pass(j->services, j->request, j->response, j->visit, &given, GATE_PASS_ADMITTED);
    return through(j, "pass");
}

static struct redis_command *watched(const struct judging *j, const redisReply *reply)
{
    struct gate_admission admission;

    if (gate_read_watch(reply, &admission) == OUTCOME_WATCHED) {
        visit_set_pass(j->services, j->request, j->response, j->visit, &admission,
                       GATE_PASS_WATCHED);
    }
    return through(j, "watch");
}

void gate_check_finish(const struct services *services, const struct request *request,
                       const redisReply *reply, void *memory, struct response *response)
{
    const struct judging j = {services, request, memory, response};

    if (j.visit->stage != LOOKING) {
        /* Another queue may have taken the memory meanwhile. */
        j.visit->known = gate_cache_find(j.visit->queue);
        if (j.visit->known == NULL) {
            (void)refuse(&j, "unavailable");
            return;
        }
    }
    switch ((enum stage)j.visit->stage) {
    case LOOKING:
        response->ask = looked(&j, reply);
        break;
    case CHECKING:
        response->ask = checked(&j, reply);
        break;
    case ENTERING:
        response->ask = entered(&j, reply);
        break;
    case WATCHING:
        response->ask = watched(&j, reply);
        break;
    }
}
