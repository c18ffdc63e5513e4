/*
 * GET /v1/shows/{show}/seats — every seat of a show: its price, its status, and which are the
 * caller's.
 *
 * Reply     200 {"show", "queue", "version", "holdsKnown", "seats": [{"id", "section", "row",
 *           "number", "price": {"amount", "currency"}, "status", "mine"}]}, in the order of the
 *           plan, with an ETag; 304 if If-None-Match names it. status: AVAILABLE, HELD (also:
 *           ordered and not paid), SOLD. mine: held or ordered by the caller; false without a login
 *           holdsKnown false: Redis does not answer, or is being updated to a new plan. Orders are
 *           then read from PostgreSQL, and seats that are only held show as AVAILABLE
 * Errors    404 NOT_FOUND, 503 CATALOG_UNAVAILABLE
 * Touches   the catalogue's cache (show, plan), lua/seats/seats_map.lua: one round trip; else
 *           sql/queries/seats/seats_page.sql
 */
#include "fcgi-app/catalog/catalog_answer.h"
#include "fcgi-app/catalog/seat_board.h"
#include "fcgi-app/http/caller.h"
#include "fcgi-app/http/etag.h"
#include "fcgi-app/pool/handler.h"
#include "lib/base/digest.h"

/* An answer being built. */
struct map_answer {
    struct str show;
    struct catalog_show info;
    struct catalog_object plan; /* id, section, row, number, amount in each line */
    struct seat_board board;
};

/* A tag of everything that the body is made from, so that equal bodies are recognized without
 * writing them. The plan's version is not sufficient: after a failover PostgreSQL may give the
 * number of a lost version to another plan. */
static struct str tag_of(struct arena *arena, const struct map_answer *answer)
{
    struct buffer said;
    char hash[SHA256_TEXT + 1];

    buffer_init(&said, SHOW_SEATS_MAX + 1024);
    buffer_format(&said, "%.*s %.*s %.*s %lld %s %d ", STR_ARG(answer->show),
                  STR_ARG(answer->info.queue), STR_ARG(answer->info.currency),
                  (long long)answer->plan.version, answer->plan.etag, answer->board.holds_known);
    buffer_add(&said, answer->board.states);
    sha256_text(buffer_text(&said), hash);
    buffer_free(&said);
    return str_of(arena_format(arena, "\"%.22s\"", hash));
}

static void add_field(struct buffer *body, struct str name, struct str text)
{
    buffer_add(body, name);
    buffer_add_json_string(body, text);
}

/* The end of a seat's JSON, by status and owner. */
static struct str ending_of(char state)
{
    static const char *const ENDINGS[][2] = {
        [SEAT_AVAILABLE] = {"},\"status\":\"AVAILABLE\",\"mine\":false}",
                            "},\"status\":\"AVAILABLE\",\"mine\":true}"},
        [SEAT_HELD] = {"},\"status\":\"HELD\",\"mine\":false}",
                       "},\"status\":\"HELD\",\"mine\":true}"},
        [SEAT_SOLD] = {"},\"status\":\"SOLD\",\"mine\":false}",
                       "},\"status\":\"SOLD\",\"mine\":true}"},
    };

    return str_of(ENDINGS[seat_board_status(state)][seat_board_is_mine(state)]);
}

static void add_seat(struct buffer *body, struct str line, struct str currency, char state)
{
    struct str id;
    struct str section;
    struct str row;
    struct str number;

    (void)str_split(line, '\t', &id, &line);
    (void)str_split(line, '\t', &section, &line);
    (void)str_split(line, '\t', &row, &line);
    (void)str_split(line, '\t', &number, &line);
    add_field(body, STR("{\"id\":"), id);
    add_field(body, STR(",\"section\":"), section);
    add_field(body, STR(",\"row\":"), row);
    add_field(body, STR(",\"number\":"), number);
    buffer_add(body, STR(",\"price\":{\"amount\":"));
    buffer_add(body, line);
    add_field(body, STR(",\"currency\":"), currency);
    buffer_add(body, ending_of(state));
}

static void write_body(struct response *response, const struct map_answer *answer)
{
    struct buffer *body = &response->body;
    struct str rest = answer->plan.text;
    struct str line;

    response_json(response, 200);
    add_field(body, STR("{\"show\":"), answer->show);
    add_field(body, STR(",\"queue\":"), answer->info.queue);
    buffer_format(body, ",\"version\":%lld,\"holdsKnown\":%s,\"seats\":[",
                  (long long)answer->plan.version, answer->board.holds_known ? "true" : "false");
    for (size_t i = 0; rest.n > 0 && i < answer->board.states.n; i++) {
        (void)str_split(rest, '\n', &line, &rest);
        if (i > 0) {
            buffer_add_char(body, ',');
        }
        add_seat(body, line, answer->info.currency, answer->board.states.p[i]);
    }
    buffer_add(body, STR("]}"));
}

/* The show and its plan are two objects: after a change one may be older than the other for a
 * moment. */
static enum catalog_outcome read_show(const struct services *services,
                                      const struct request *request, struct map_answer *answer)
{
    enum catalog_outcome outcome =
        catalog_show(services->catalog, request->arena, answer->show, &answer->info);

    if (outcome == CATALOG_FOUND) {
        outcome = catalog_get(services->catalog, request->arena, CATALOG_SEAT_PLAN, answer->show,
                              &answer->plan);
    }
    return outcome;
}

void get_seats(const struct services *services, const struct request *request,
               struct response *response)
{
    struct map_answer answer = {.show = request->parameters[0]};
    struct caller caller = {0};
    bool known = caller_identify(services, request, &caller, NULL);
    enum catalog_outcome outcome = read_show(services, request, &answer);

    if (outcome == CATALOG_FOUND) {
        struct show_ref show = {.queue = answer.info.queue, .show = answer.show};
        struct seat_plan plan = {.lines = answer.plan.text, .version = answer.plan.version};
        outcome = seat_board_read(services, request->arena, &show, &plan, caller.id, &answer.board)
                      ? CATALOG_FOUND
                      : CATALOG_UNAVAILABLE;
    }
    if (outcome != CATALOG_FOUND) {
        catalog_answer_failure(request, response, outcome, "show");
        return;
    }
    response->cache_control = known ? "no-store" : "public, no-cache";
    if (!etag_answer(request, response, tag_of(request->arena, &answer))) {
        write_body(response, &answer);
    }
}
