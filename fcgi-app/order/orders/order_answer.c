#include "fcgi-app/order/orders/order_answer.h"

#include "fcgi-app/http/problem.h"
#include "lib/base/clock.h"
#include "lib/base/digest.h"

enum { MEMBER_HASH_TEXT = 12 };

static void write_name(struct buffer *out, const char *name)
{
    buffer_add(out, STR(",\""));
    buffer_add(out, str_of(name));
    buffer_add(out, STR("\":"));
}

static void write_money(struct buffer *out, const char *name, int64_t amount, struct str currency)
{
    write_name(out, name);
    buffer_add(out, STR("{\"amount\":"));
    buffer_add_int(out, amount);
    buffer_add(out, STR(",\"currency\":"));
    buffer_add_json_string(out, currency);
    buffer_add_char(out, '}');
}

static void write_time(struct buffer *out, const char *name, int64_t us)
{
    char text[RFC3339_TEXT + 1];

    write_name(out, name);
    if (us < 0) {
        buffer_add(out, STR("null"));
        return;
    }
    rfc3339_format(us / 1000, text);
    buffer_add_char(out, '"');
    buffer_add(out, str_sized(text, RFC3339_TEXT));
    buffer_add_char(out, '"');
}

static void write_item(struct buffer *out, const struct order_item *item, struct str currency)
{
    buffer_add(out, STR("{\"sku\":"));
    buffer_add_json_string(out, item->sku);
    buffer_add(out, STR(",\"quantity\":"));
    buffer_add_int(out, item->quantity);
    write_money(out, "unitPrice", item->unit_price, currency);
    buffer_add_char(out, '}');
}

static void write_seat(struct buffer *out, const struct order *order, const struct order_seat *seat)
{
    buffer_add(out, STR("{\"show\":"));
    buffer_add_json_string(out, order->show);
    buffer_add(out, STR(",\"id\":"));
    buffer_add_json_string(out, seat->id);
    buffer_add(out, STR(",\"section\":"));
    buffer_add_json_string(out, seat->section);
    buffer_add(out, STR(",\"row\":"));
    buffer_add_json_string(out, seat->row);
    buffer_add(out, STR(",\"number\":"));
    buffer_add_json_string(out, seat->number);
    write_money(out, "price", seat->unit_price, order->currency);
    buffer_add_char(out, '}');
}

void order_answer_write(struct buffer *out, const struct order *order)
{
    buffer_add(out, STR("{\"id\":"));
    buffer_add_json_string(out, order->id);
    buffer_add(out, STR(",\"queue\":"));
    buffer_add_json_string(out, order->queue);
    buffer_add(out, STR(",\"status\":"));
    buffer_add_json_string(out, order->status);
    buffer_add(out, STR(",\"items\":["));
    for (size_t i = 0; i < order->item_count; i++) {
        if (i > 0) {
            buffer_add_char(out, ',');
        }
        write_item(out, &order->items[i], order->currency);
    }
    buffer_add(out, STR("],\"seats\":["));
    for (size_t i = 0; i < order->seat_count; i++) {
        if (i > 0) {
            buffer_add_char(out, ',');
        }
        write_seat(out, order, &order->seats[i]);
    }
    buffer_add_char(out, ']');
    write_money(out, "total", order->total, order->currency);
    write_time(out, "createdAt", order->created_us);
    write_time(out, "expiresAt", order->expires_us);
    buffer_add(out, STR(",\"payment\":"));
    if (order->payment.n > 0) {
        buffer_add_json_string(out, order->payment);
    } else {
        buffer_add(out, STR("null"));
    }
    write_time(out, "payUntil", order->pay_until_us);
    buffer_add_char(out, '}');
}

void order_answer(struct response *response, int status, const struct order *order)
{
    response_json(response, status);
    order_answer_write(&response->body, order);
}

void order_answer_failure(const struct request *request, struct response *response,
                          enum order_outcome outcome)
{
    switch (outcome) {
    case ORDER_NONE:
        problem_answer(request, response, PROBLEM_NOT_FOUND, "You have no such order.");
        return;
    case ORDER_UNAVAILABLE:
    case ORDER_UNKNOWN:
        problem_answer(request, response, PROBLEM_ORDERS_UNAVAILABLE,
                       "Orders cannot be reached at the moment. Send the same request again.");
        return;
    default:
        problem_answer(request, response, PROBLEM_INTERNAL_ERROR,
                       "Nothing was changed. Send the same request again; if it fails again, "
                       "report the instance.");
        return;
    }
}

void order_answer_log(enum log_level level, const char *event, const struct order *order,
                      struct str member, const char *claim)
{
    char hash[SHA256_TEXT + 1];

    sha256_text(member, hash);
    log_event(level, event,
              LOG_FIELDS(LOG_STR("order", order->id), LOG_TEXT("claim", claim),
                         LOG_STR("queue", order->queue),
                         LOG_STR("member", str_sized(hash, MEMBER_HASH_TEXT)),
                         LOG_STR("status", order->status), LOG_INT("amount", order->total),
                         LOG_STR("currency", order->currency), LOG_INT("items", order->item_count),
                         LOG_STR("show", order->show), LOG_INT("seats", order->seat_count)));
}
