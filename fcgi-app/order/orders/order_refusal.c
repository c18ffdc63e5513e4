#include "fcgi-app/order/orders/order_refusal.h"

#include "fcgi-app/http/problem.h"
#include "fcgi-app/order/orders/order_answer.h"
#include "fcgi-app/order/seats/seat_answer.h"
#include "lib/base/identifier.h"

void order_refusal_key_reused(const struct request *request, struct response *response)
{
    problem_answer(request, response, PROBLEM_IDEMPOTENCY_KEY_REUSED,
                   "This Idempotency-Key belongs to an order from a different request.");
}

static void answer_out_of_stock(const struct request *request, struct response *response,
                                struct str sku)
{
    struct buffer json;

    problem_answer(request, response, PROBLEM_OUT_OF_STOCK,
                   "There is not enough left of %.*s. The entry token is still valid.",
                   STR_ARG(sku));
    buffer_init(&json, SLUG_MAX + 2);
    buffer_add_json_string(&json, sku);
    problem_add(response, "sku", buffer_text(&json));
    buffer_free(&json);
}

static void answer_seats(const struct request *request, struct response *response,
                         enum outcome outcome, const struct order_placement *placement)
{
    struct seat_refusal refusal = {
        .seats = placement->seats, .count = placement->seat_count, .most = placement->most_seats};

    seat_answer_refusal(request, response, outcome, &refusal);
}

void order_refusal_answer(const struct request *request, struct response *response,
                          const struct order_body *body, enum order_outcome outcome,
                          const struct order_placement *placement)
{
    switch (outcome) {
    case ORDER_KEY_REUSED:
        order_refusal_key_reused(request, response);
        return;
    case ORDER_OUT_OF_STOCK:
        answer_out_of_stock(request, response, placement->sku);
        return;
    case ORDER_UNKNOWN_SKU:
        problem_answer_at(request, response,
                          order_body_pointer(request->arena, body, placement->sku),
                          "This queue does not sell %.*s.", STR_ARG(placement->sku));
        return;
    case ORDER_CURRENCIES_DIFFER:
        problem_answer_at(request, response, "/items",
                          "The items have different currencies. Order them separately.");
        return;
    case ORDER_TOTAL_TOO_LARGE:
        problem_answer_at(request, response, body->show.n > 0 ? "/seats" : "/items",
                          "The total is too large for one order.");
        return;
    case ORDER_SEATS_TAKEN:
        answer_seats(request, response, OUTCOME_SEATS_TAKEN, placement);
        return;
    case ORDER_UNKNOWN_SEAT:
        answer_seats(request, response, OUTCOME_UNKNOWN_SEAT, placement);
        return;
    case ORDER_TOO_MANY_SEATS:
        answer_seats(request, response, OUTCOME_TOO_MANY_SEATS, placement);
        return;
    case ORDER_SHOW_GONE:
        problem_answer_at(request, response, "/show", "This queue does not sell the show.");
        return;
    case ORDER_QUEUE_GONE:
        problem_answer(request, response, PROBLEM_NOT_FOUND, "There is no such queue.");
        return;
    case ORDER_EPOCH:
        problem_answer_outcome(request, response, OUTCOME_ENTRY_TOKEN_INVALID);
        return;
    case ORDER_INCARNATION:
        problem_answer_outcome(request, response, OUTCOME_ADMISSION_UNAVAILABLE);
        return;
    default:
        order_answer_failure(request, response, outcome);
        return;
    }
}
