/*
 * POST /v1/admin/gate/dry-run — what the gate would do with a request. It only reads: nobody
 * enters, no pass is renewed, nothing is counted. It uses the gate's own rules
 * (gate/gate_decision.h).
 *
 * Request   {"queue", "url": path or address, "client": "page"|"form"|"fetch"|"app"|"prefetch",
 *           "method"?, "address"?, "userAgent"?, "bypassSecret"?, "cookie"?: as the browser sends
 *           them, "member"?: as the site names it, or a visitor}
 * Reply     200 {"through", "verdict", "why", "subject": the owner or null, "pass": the state of
 *           the pass, "path": the path that bypass rules see}
 * Errors    401 UNAUTHENTICATED, 400 INVALID_REQUEST, 404 NOT_FOUND, 503 ORDERS_UNAVAILABLE,
 *           503 ADMISSION_UNAVAILABLE
 * Touches   lua/gate/gate_view.lua; for a known owner lua/members/member_find.lua, stats.lua;
 *           sql/queries/queues/queue_get.sql for the reason, or if Redis does not know the queue
 * Roles     operator, viewer
 */
#include <string.h>

#include "fcgi-app/gate/gate_decision.h"
#include "fcgi-app/http/percent.h"
#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/members/member_why.h"
#include "fcgi-app/operator/queues/queue_answer.h"
#include "fcgi-app/pool/handler.h"
#include "lib/admission/gate/ip_network.h"
#include "lib/admission/members/member.h"
#include "lib/base/identifier.h"
#include "lib/identity/visitor.h"
#include "lib/store/redis.h"

enum { URL_MAX = 4000, TEXT_MAX = 8000, PARAMETERS_MAX = 16, JSON_OF_A_BYTE = 8 };

/** A simulated request. */
struct simulated {
    const struct services *services;
    const struct request *request;
    struct response *response;
    json_object *body;
    char *parameters[PARAMETERS_MAX];
    size_t count;
    struct str path;
    struct str member;
};

struct finding {
    bool through;
    const char *verdict;
    const char *why;
};

static bool refuse(const struct simulated *it, const char *pointer, const char *why)
{
    problem_answer_at(it->request, it->response, pointer, "%s", why);
    return false;
}

/** A text of the body, empty if it is missing. Returns false with an answer if it is no text or too
 *  long. */
static bool read_text(const struct simulated *it, const char *name, size_t maximum,
                      struct str *text)
{
    json_object *value = NULL;
    const char *pointer = arena_format(it->request->arena, "/%s", name);

    *text = str_sized("", 0);
    if (!json_object_object_get_ex(it->body, name, &value) || value == NULL) {
        return true;
    }
    if (!json_object_is_type(value, json_type_string)) {
        return refuse(it, pointer, "It must be text.");
    }
    *text = str_sized(json_object_get_string(value), (size_t)json_object_get_string_len(value));
    if (text->n > maximum || memchr(text->p, '\0', text->n) != NULL) {
        return refuse(it, pointer, "It is too long, or contains a NUL.");
    }
    return true;
}

static void add_parameter(struct simulated *it, const char *name, struct str value)
{
    /* One slot is kept for the terminating NULL. */
    if (value.n > 0 && it->count + 1 < PARAMETERS_MAX) {
        it->parameters[it->count++] =
            arena_format(it->request->arena, "%s=%.*s", name, STR_ARG(value));
    }
}

/** Adds a header or the like that the body names. */
static bool add_text(struct simulated *it, const char *name, const char *parameter)
{
    struct str value;

    if (!read_text(it, name, TEXT_MAX, &value)) {
        return false;
    }
    add_parameter(it, parameter, value);
    return true;
}

static bool add_address(struct simulated *it)
{
    struct str text;
    struct ip_address address;

    if (!read_text(it, "address", TEXT_MAX, &text)) {
        return false;
    }
    if (text.n > 0 && !ip_address_parse(text, &address)) {
        return refuse(it, "/address", "address must be an IP address.");
    }
    add_parameter(it, "REMOTE_ADDR", text);
    return true;
}

/** Resolves "." and ".." and merges slashes, as nginx does before it matches a path. */
static struct str normal_path(struct arena *arena, struct str path)
{
    char *out = arena_alloc(arena, path.n + 2);
    size_t n = 0;
    struct str segment;
    struct str rest = path;

    for (bool more = true; more;) {
        more = str_split(rest, '/', &segment, &rest);
        bool is_last = !more;
        if (str_equal(segment, STR(".."))) {
            while (n > 0 && out[--n] != '/') {
            }
        } else if (segment.n > 0 && !str_equal(segment, STR("."))) {
            out[n++] = '/';
            memcpy(out + n, segment.p, segment.n);
            n += segment.n;
            continue;
        }
        if (is_last) {
            out[n++] = '/';
        }
    }
    return str_sized(n > 0 ? out : "/", n > 0 ? n : 1);
}

/** The decoded path of a URL. */
static bool read_path(struct simulated *it)
{
    struct str url;
    struct str path;
    struct str rest;

    if (!read_text(it, "url", URL_MAX, &url)) {
        return false;
    }
    (void)str_split(url, '#', &url, &rest);
    (void)str_split(url, '?', &url, &rest);
    if (str_starts(url, STR("https://")) || str_starts(url, STR("http://"))) {
        size_t scheme = str_starts(url, STR("https://")) ? 8 : 7;
        const char *slash = memchr(url.p + scheme, '/', url.n - scheme);
        url = slash == NULL ? STR("/") : str_sized(slash, url.n - (size_t)(slash - url.p));
    }
    if (url.n == 0 || url.p[0] != '/' || !percent_decode(it->request->arena, url, false, &path)) {
        return refuse(it, "/url",
                      "url must be a path like /sale/, or an address that begins with http.");
    }
    it->path = normal_path(it->request->arena, path);
    add_parameter(it, "SLUICE_PATH", it->path);
    return true;
}

/** The headers that a client of this kind sends. */
static bool add_client(struct simulated *it)
{
    struct str client;
    struct str method;

    if (!read_text(it, "client", TEXT_MAX, &client) || !read_text(it, "method", 32, &method)) {
        return false;
    }
    bool is_form = str_equal(client, STR("form"));
    bool is_prefetch = str_equal(client, STR("prefetch"));
    if (client.n == 0 || str_equal(client, STR("page")) || is_form || is_prefetch) {
        add_parameter(it, "HTTP_SEC_FETCH_MODE", STR("navigate"));
        add_parameter(it, "HTTP_ACCEPT", STR("text/html"));
    } else if (str_equal(client, STR("fetch"))) {
        add_parameter(it, "HTTP_SEC_FETCH_MODE", STR("cors"));
    } else if (str_equal(client, STR("app"))) {
        add_parameter(it, "HTTP_ACCEPT", STR("application/json"));
    } else {
        return refuse(it, "/client", "client must be page, form, fetch, app or prefetch.");
    }
    if (is_prefetch) {
        add_parameter(it, "HTTP_SEC_PURPOSE", STR("prefetch"));
    }
    add_parameter(it, "SLUICE_METHOD", method.n > 0 ? method : is_form ? STR("POST") : STR("GET"));
    return true;
}

/** Converts the body into the parameters that nginx would pass. */
static bool build_request(struct simulated *it, struct request *simulated)
{
    struct str queue;

    it->body = operator_body(it->request, it->response);
    if (it->body == NULL || !read_text(it, "queue", SLUG_MAX, &queue)) {
        return false;
    }
    if (!identifier_is_slug(queue)) {
        return refuse(it, "/queue", "queue must be a queue's id.");
    }
    add_parameter(it, "SLUICE_QUEUE", queue);
    if (!read_path(it) || !add_client(it) || !add_address(it) ||
        !add_text(it, "userAgent", "HTTP_USER_AGENT") ||
        !add_text(it, "bypassSecret", "HTTP_X_SLUICE_BYPASS") ||
        !read_text(it, "member", TEXT_MAX, &it->member) ||
        !read_text(it, "cookie", TEXT_MAX, &simulated->cookies)) {
        return false;
    }
    if (it->member.n > 0 && !visitor_or_member_is(it->member)) {
        return refuse(it, "/member", "That is not the id of a member or a visitor.");
    }
    if (!visitor_id_is(it->member)) {
        add_parameter(it, "SLUICE_MEMBER", it->member);
    }
    simulated->raw_parameters = it->parameters;
    simulated->authorization = str_sized("", 0);
    return true;
}

static const char *pass_word(const struct visit *visit)
{
    return !visit->has_pass                                ? "none"
           : visit->pass.kind == GATE_PASS_WATCHED         ? "given while the gate only watched"
           : visit->pass.epoch != visit->known->view.epoch ? "of before a reset"
           : gate_pass_counts(visit)                       ? "good"
                                                           : "ended by an operator or the site";
}

/** The reason for the gate's own decision. */
static const char *why_of(const struct visit *visit, const char *verdict)
{
    static const char *const RULES[] = {
        [GATE_BYPASS_NETWORK] = "A bypass rule lets this address through.",
        [GATE_BYPASS_PATH] = "A bypass rule lets this path through.",
        [GATE_BYPASS_SECRET] = "The bypass secret lets it through.",
        [GATE_BYPASS_CRAWLER] = "A bypass rule lets this crawler through.",
    };
    static const char *const WORDS[][2] = {
        {"off", "The gate is off: every request passes."},
        {"watch", "The gate only watches: every request passes and is counted."},
        {"hold", "The gate is on hold: no visitor passes, with or without a pass."},
        {"pass", "The pass is valid and was renewed a moment ago."},
        {"preflight", "A CORS preflight always passes."},
    };
    enum gate_bypass_reason rule = gate_bypass_match(visit->known->bypass, &visit->facts);

    if (strcmp(verdict, "bypass") == 0 && rule != GATE_BYPASS_NONE) {
        return RULES[rule];
    }
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
        if (strcmp(verdict, WORDS[i][0]) == 0) {
            return WORDS[i][1];
        }
    }
    return visit->kind == CLIENT_PAGE
               ? "The visitor is unknown: the waiting page is shown, and enters the line."
               : "The visitor is unknown, and this is not a page navigation: the client is told to "
                 "wait and takes no place.";
}

/** Finds the place of a known owner. Read only, where the gate would renew the pass. */
static bool find_owner(const struct simulated *it, const struct visit *visit,
                       struct finding *finding)
{
    struct member_place place;
    struct arena *arena = it->request->arena;
    enum outcome outcome = member_read_place(
        redis_call(it->services->redis, arena, member_find(arena, visit->queue, visit->id)),
        &place);

    if (outcome == OUTCOME_NOT_FOUND) {
        queue_answer_unknown(it->services, it->request, it->response, visit->queue);
        return false;
    }
    if (outcome != OUTCOME_OK) {
        problem_answer_outcome(it->request, it->response, outcome);
        return false;
    }
    finding->through = str_equal(place.kind, STR("READY")) ||
                       str_equal(place.kind, STR("CLAIMED")) || place.unpaid_order.n > 0;
    finding->verdict = finding->through ? "pass" : "wait";
    finding->why = member_why(it->services, it->request, visit->queue, &place);
    if (!finding->through && gate_may_enter_at_once(visit)) {
        *finding = (struct finding){
            true, "enter", "No one waits: the visitor would enter and be admitted immediately."};
    }
    return true;
}

static bool find(const struct simulated *it, const struct visit *visit, struct finding *finding)
{
    const struct gate_decision decision = gate_decide(visit);

    switch (decision.step) {
    case GATE_THROUGH:
    case GATE_REFUSE:
        finding->through = decision.step == GATE_THROUGH;
        finding->verdict = decision.verdict;
        finding->why = why_of(visit, decision.verdict);
        return true;
    case GATE_WATCH:
        *finding = (struct finding){true, "watch", why_of(visit, "watch")};
        return true;
    case GATE_ENTER:
        *finding = (struct finding){
            true, "enter", "No one waits: a new visitor would enter and be admitted immediately."};
        return true;
    case GATE_CHECK:
        return find_owner(it, visit, finding);
    }
    return false;
}

/** Reads what the gate knows of the queue and of the owner. Returns false with an answer if that
 *  fails. */
static bool read_knowledge(const struct simulated *it, const struct request *simulated,
                           struct visit *visit)
{
    const redisReply *reply = redis_call(it->services->redis, it->request->arena,
                                         gate_look(it->request->arena, visit->queue));

    visit->known = reply == NULL ? NULL : gate_cache_put(visit->queue, reply, visit->now_ms);
    if (outcome_of(reply) == OUTCOME_NOT_FOUND) {
        queue_answer_unknown(it->services, it->request, it->response, visit->queue);
        return false;
    }
    if (visit->known == NULL) {
        problem_answer(it->request, it->response, PROBLEM_ADMISSION_UNAVAILABLE,
                       "Redis does not answer: the gate admits no one then, and visitors with a "
                       "pass stay until it expires.");
        return false;
    }
    visit_identify(it->services, simulated, visit);
    if (visit->known->view.for_visitors && visitor_id_is(it->member)) {
        visit->id = it->member;
    }
    return true;
}

/** A path may contain any bytes, JSON only UTF-8: other bytes become U+FFFD. */
static json_object *path_json(struct arena *arena, struct str path)
{
    struct buffer text;

    buffer_init(&text, (size_t)JSON_OF_A_BYTE * URL_MAX);
    buffer_add_json_string(&text, path);
    json_object *shown = json_tokener_parse(arena_copy(arena, buffer_text(&text)));
    buffer_free(&text);
    return shown;
}

void dry_run(const struct services *services, const struct request *request,
             struct response *response)
{
    struct operator_call call;
    struct simulated it = {.services = services, .request = request, .response = response};
    struct request simulated = *request;
    struct finding finding = {0};

    if (!operator_begin(services, request, response, true, &call) ||
        !build_request(&it, &simulated)) {
        return;
    }
    struct visit *visit = visit_read(&simulated);
    if (visit == NULL || !read_knowledge(&it, &simulated, visit) || !find(&it, visit, &finding)) {
        return;
    }
    json_object *answer = json_object_new_object();
    json_object_object_add(answer, "through", json_object_new_boolean(finding.through));
    json_object_object_add(answer, "verdict", json_object_new_string(finding.verdict));
    json_object_object_add(answer, "why", json_object_new_string(finding.why));
    json_object_object_add(answer, "subject", visit->id.n > 0 ? text_json(visit->id) : NULL);
    json_object_object_add(answer, "pass", json_object_new_string(pass_word(visit)));
    json_object_object_add(answer, "path", path_json(request->arena, it.path));
    response_json_object(response, 200, answer);
    (void)json_object_put(answer);
}
