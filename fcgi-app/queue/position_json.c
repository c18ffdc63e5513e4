#include "fcgi-app/queue/position_json.h"

#include "lib/identity/queue_ticket.h"

enum { READY_POLL_S = 1, NOT_ENTERED_POLL_S = 5 };

static const char *const STATUS_WORDS[] = {
    [LINE_NOT_ENTERED] = "NOT_ENTERED", [LINE_WAITING] = "WAITING", [LINE_READY] = "READY"};

static void add_text_or_null(struct buffer *body, struct str name, struct str text)
{
    buffer_add(body, name);
    if (text.n > 0) {
        buffer_add_json_string(body, text);
    } else {
        buffer_add(body, STR("null"));
    }
}

static void add_number_or_null(struct buffer *body, struct str name, int64_t number)
{
    buffer_add(body, name);
    if (number >= 0) {
        buffer_add_int(body, number);
    } else {
        buffer_add(body, STR("null"));
    }
}

static void add_time_or_null(struct buffer *body, struct str name, int64_t ms)
{
    buffer_add(body, name);
    buffer_add_json_time(body, ms > 0 ? ms : -1);
}

int64_t position_estimate_s(const struct line_position *position)
{
    int64_t ahead_milli;
    bool moves = str_equal(position->queue_state, STR("OPEN")) ||
                 str_equal(position->queue_state, STR("DRAINING"));

    if (position->status != LINE_WAITING || position->rank < 0 || !moves || position->on_hold ||
        position->rate_milli < 1 ||
        __builtin_mul_overflow(position->rank + 1, (int64_t)1000, &ahead_milli)) {
        return -1;
    }
    return (ahead_milli - 1) / position->rate_milli + 1;
}

bool position_is_exact_only(const struct line_position *position)
{
    return position->exact_only;
}

struct poll_pause position_pause(const struct line_position *position)
{
    switch (position->status) {
    case LINE_WAITING:
        /* Before the draw no one is near the front. */
        return poll_tiers_pause(position->poll_tiers,
                                position->rank < 0 ? position->waiting : position->rank);
    case LINE_READY:
        return poll_tiers_fixed(READY_POLL_S);
    case LINE_NOT_ENTERED:
    default:
        return poll_tiers_fixed(NOT_ENTERED_POLL_S);
    }
}

void position_json_add(struct buffer *body, struct str queue, const struct line_position *position,
                       struct poll_pause pause, struct str ticket)
{
    bool is_ready = position->status == LINE_READY;
    bool has_place = position->status != LINE_NOT_ENTERED;

    add_text_or_null(body, STR("{\"queue\":"), queue);
    add_text_or_null(body, STR(",\"queueState\":"), position->queue_state);
    add_text_or_null(body, STR(",\"status\":"), str_of(STATUS_WORDS[position->status]));
    add_number_or_null(body, STR(",\"rank\":"),
                       position->status == LINE_WAITING ? position->rank : -1);
    add_number_or_null(body, STR(",\"currentTotalWaitingCount\":"), position->waiting);
    add_number_or_null(body, STR(",\"estimatedWaitSeconds\":"), position_estimate_s(position));
    add_number_or_null(body, STR(",\"pollingIntervalSeconds\":"), pause.seconds);
    add_number_or_null(body, STR(",\"retryAfterMs\":"), pause.retry_ms);
    add_text_or_null(body, STR(",\"entryToken\":"),
                     is_ready ? position->entry_token : str_sized(NULL, 0));
    add_time_or_null(body, STR(",\"entryTokenExpiresAt\":"),
                     is_ready ? position->token_ends_ms : 0);
    add_text_or_null(body, STR(",\"queueTicket\":"), ticket);
    add_time_or_null(body, STR(",\"serverTime\":"), position->now_ms);
    add_number_or_null(body, STR(",\"seq\":"), has_place ? position->seq : -1);
    add_number_or_null(body, STR(",\"epoch\":"), position->epoch);
    add_number_or_null(body, STR(",\"incarnation\":"), position->incarnation);
    if (position_is_exact_only(position)) {
        buffer_add(body, STR(",\"exactOnly\":true"));
    }
    if (position->ordering) {
        buffer_add(body, STR(",\"ordering\":true"));
    }
    buffer_add_char(body, '}');
}

void position_json_answer(struct response *response, int status, struct str queue,
                          const struct line_position *position, struct str ticket)
{
    response_json(response, status);
    position_json_add(&response->body, queue, position, position_pause(position), ticket);
}
