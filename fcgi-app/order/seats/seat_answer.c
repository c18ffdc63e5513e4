#include "fcgi-app/order/seats/seat_answer.h"

#include "fcgi-app/http/problem.h"
#include "lib/base/buffer.h"
#include "lib/base/identifier.h"
#include "lib/catalog/catalog.h"

static void write_list(struct buffer *out, const struct str *seats, size_t count)
{
    buffer_add_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            buffer_add_char(out, ',');
        }
        buffer_add_json_string(out, seats[i]);
    }
    buffer_add_char(out, ']');
}

static void add_seats(struct response *response, const char *name,
                      const struct seat_refusal *refusal)
{
    struct buffer json;

    buffer_init(&json, SEATS_MAX * (SEAT_MAX + 3) + 2);
    write_list(&json, refusal->seats, refusal->count);
    problem_add(response, name, buffer_text(&json));
    buffer_free(&json);
}

void seat_answer_refusal(const struct request *request, struct response *response,
                         enum outcome outcome, const struct seat_refusal *refusal)
{
    problem_answer_outcome(request, response, outcome);
    switch (outcome) {
    case OUTCOME_SEATS_TAKEN:
        add_seats(response, "taken", refusal);
        return;
    case OUTCOME_UNKNOWN_SEAT:
        add_seats(response, "unknown", refusal);
        return;
    case OUTCOME_SEAT_NOT_HELD:
        add_seats(response, "notHeld", refusal);
        return;
    case OUTCOME_TOO_MANY_SEATS:
        problem_add(response, "most", str_of(arena_int(request->arena, refusal->most)));
        return;
    default:
        return;
    }
}

void seat_answer_hold_refusal(const struct request *request, struct response *response,
                              enum outcome outcome, const struct seat_refusal *refusal)
{
    if (outcome == OUTCOME_NOT_FOUND && !refusal->queue_deleted) {
        problem_answer_outcome(request, response, OUTCOME_ADMISSION_UNAVAILABLE);
        return;
    }
    seat_answer_refusal(request, response, outcome, refusal);
}

static void answer_unsaid(const struct request *request, struct response *response,
                          enum catalog_outcome outcome)
{
    if (outcome == CATALOG_NONE) {
        problem_answer(request, response, PROBLEM_NOT_FOUND, "There is no such show.");
    } else {
        problem_answer_outcome(request, response, OUTCOME_ADMISSION_UNAVAILABLE);
    }
}

void seat_answer_no_show(const struct services *services, const struct request *request,
                         struct response *response, const struct show_ref *show, const char *at)
{
    struct catalog_show found;
    enum catalog_outcome outcome =
        catalog_show(services->catalog, request->arena, show->show, &found);

    if (outcome == CATALOG_FOUND && at != NULL && !str_equal(found.queue, show->queue)) {
        problem_answer_at(request, response, at, "This queue does not sell the show.");
        return;
    }
    answer_unsaid(request, response, outcome);
}

bool seat_answer_find_show(const struct services *services, const struct request *request,
                           struct response *response, struct str id, struct show_ref *show)
{
    struct catalog_show found;
    enum catalog_outcome outcome = catalog_show(services->catalog, request->arena, id, &found);

    if (outcome != CATALOG_FOUND) {
        answer_unsaid(request, response, outcome);
        return false;
    }
    *show = (struct show_ref){.queue = found.queue, .show = id};
    return true;
}
