#include "fcgi-app/operator/concerts/show_answer.h"

#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/operator_call.h"
#include "lib/base/clock.h"

bool show_refuse(const struct request *request, struct response *response,
                 enum show_outcome outcome, const char *what, struct str id)
{
    switch (outcome) {
    case SHOW_NONE:
        problem_answer(request, response, PROBLEM_NOT_FOUND, "There is no %s %.*s.", what,
                       STR_ARG(id));
        return false;
    case SHOW_UNAVAILABLE:
        problem_answer(request, response, PROBLEM_ORDERS_UNAVAILABLE,
                       "PostgreSQL cannot do it at the moment; nothing was changed. Send the same "
                       "request again.");
        return false;
    case SHOW_UNKNOWN:
        problem_answer(request, response, PROBLEM_ORDERS_UNAVAILABLE,
                       "PostgreSQL did not answer in time; the change may or may not be stored. "
                       "Send the same request again.");
        return false;
    default:
        problem_answer(request, response, PROBLEM_INTERNAL_ERROR,
                       "PostgreSQL refused the statement; nothing was changed.");
        return false;
    }
}

void concert_answer(struct response *response, int status, const struct concert_record *concert)
{
    json_object *answer = json_object_new_object();

    json_object_object_add(answer, "concert", text_json(concert->id));
    json_object_object_add(answer, "title", text_json(concert->title));
    json_object_object_add(answer, "venue", text_json(concert->venue));
    json_object_object_add(answer, "description", text_json(concert->description));
    json_object_object_add(answer, "version", json_object_new_int64(concert->version));
    json_object_object_add(answer, "createdAt", time_json(concert->created_ms));
    json_object_object_add(answer, "updatedAt", time_json(concert->updated_ms));
    response_json_object(response, status, answer);
    (void)json_object_put(answer);
}

static void write_text(struct buffer *out, const char *name, struct str text)
{
    buffer_format(out, ",\"%s\":", name);
    buffer_add_json_string(out, text);
}

static void write_number(struct buffer *out, const char *name, int64_t number)
{
    buffer_format(out, ",\"%s\":", name);
    buffer_add_int(out, number);
}

static void write_time(struct buffer *out, const char *name, int64_t ms)
{
    char text[RFC3339_TEXT + 1];

    rfc3339_format(ms, text);
    buffer_format(out, ",\"%s\":\"%s\"", name, text);
}

/* Written as text: as JSON objects fifty thousand seats would take twenty times the memory. */
static void write_seats(struct buffer *out, const struct show_record *show,
                        const struct plan_seat *seats, size_t count)
{
    buffer_add(out, STR(",\"seats\":["));
    for (size_t i = 0; i < count; i++) {
        buffer_add(out, i == 0 ? STR("{\"id\":") : STR(",{\"id\":"));
        buffer_add_json_string(out, seats[i].id);
        write_text(out, "section", seats[i].section);
        write_text(out, "row", seats[i].row);
        write_text(out, "number", seats[i].number);
        buffer_add(out, STR(",\"price\":{\"amount\":"));
        buffer_add_int(out, seats[i].price);
        write_text(out, "currency", show->currency);
        buffer_add(out, STR("}}"));
    }
    buffer_add_char(out, ']');
}

void show_answer(struct response *response, int status, const struct show_record *show,
                 const struct plan_seat *seats, size_t count)
{
    struct buffer *out = &response->body;

    response_json(response, status);
    buffer_add(out, STR("{\"show\":"));
    buffer_add_json_string(out, show->id);
    write_text(out, "concert", show->concert);
    write_time(out, "startsAt", show->starts_ms);
    write_text(out, "queue", show->queue);
    write_number(out, "maxSeatsPerMember", show->max_seats);
    write_number(out, "holdTtlSeconds", show->hold_ttl_seconds);
    if (show->currency.n > 0) {
        write_text(out, "currency", show->currency);
    } else {
        buffer_add(out, STR(",\"currency\":null"));
    }
    write_number(out, "seatCount", show->seat_count);
    write_number(out, "taken", show->taken_count);
    write_number(out, "version", show->version);
    write_time(out, "createdAt", show->created_ms);
    write_time(out, "updatedAt", show->updated_ms);
    if (seats != NULL) {
        write_seats(out, show, seats, count);
    }
    buffer_add_char(out, '}');
}
