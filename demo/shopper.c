#include "demo/shopper.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "demo/shop.h"
#include "lib/base/clock.h"

enum { PATH_TEXT = 128, NEVER = 3600 * 1000, LATE_MS = 33000 };

/* A random number of ms in [from, to), for the delays of people. */
static int64_t between(uint32_t from, uint32_t to)
{
    return from + random_below(to - from);
}

static void go_on(struct shopper *shopper, enum shopper_step step, int64_t in_ms)
{
    shopper->step = step;
    shopper->due = clock_monotonic_ms() + in_ms;
}

/* This person is done; another one arrives after a while. */
static void finish_visit(struct shopper *shopper)
{
    go_on(shopper, SHOPPER_OUTSIDE, between(500, 8000));
}

/* Retries: when told to, else in a second or two. */
static void retry_later(struct shopper *shopper, const struct api_reply *reply)
{
    int64_t wait = reply->retry_after_ms >= 0 ? reply->retry_after_ms : 1000;

    shopper->due = clock_monotonic_ms() + wait + between(0, 1000);
}

/* No answer, or one that allows a retry. */
static bool may_be_retried(const struct api_reply *reply)
{
    return reply->status == 0 || reply->status == 429 || reply->status >= 500;
}

static enum shopper_temper random_temper(void)
{
    uint32_t luck = random_below(100);

    return luck < 68   ? TEMPER_STEADY
           : luck < 82 ? TEMPER_REPEATS
           : luck < 86 ? TEMPER_VANISHES
           : luck < 92 ? TEMPER_LEAVES
           : luck < 98 ? TEMPER_DAWDLES
                       : TEMPER_LATE;
}

static void request(struct shopper *shopper, struct api_request what, api_done *done)
{
    shopper->busy = true;
    api_send(shopper->context->api, &what, done, shopper);
}

static void arrive(struct shopper *shopper)
{
    struct tally *tally = shopper->context->tally;

    tally->arrived++;
    (void)snprintf(shopper->member, sizeof(shopper->member), "shopper-%.8s-%" PRId64,
                   shopper->context->run, tally->arrived);
    member_token_sign(shopper->context->member_key, shopper->member, shopper->token);
    shopper->temper = random_temper();
    shopper->polls_left = (int)between(1, 8);
    shopper->baskets_left = 3;
    go_on(shopper, SHOPPER_ENTERING, 0);
}

/* Acts on an entry's or a position's answer. */
static void read_position(struct shopper *shopper, const struct api_reply *reply)
{
    const char *status = api_text(reply, "status");

    if (strcmp(status, "READY") == 0) {
        (void)snprintf(shopper->entry_token, sizeof(shopper->entry_token), "%s",
                       api_text(reply, "entryToken"));
        shopper->context->tally->admitted++;
        go_on(shopper, SHOPPER_CHOOSING,
              shopper->temper == TEMPER_LATE ? LATE_MS : between(800, 4000));
    } else if (strcmp(status, "WAITING") == 0) {
        go_on(shopper, SHOPPER_IN_LINE, (int64_t)api_number(reply, "retryAfterMs", 1000));
    } else {
        /* Was away for so long that the place is gone: queues up again. */
        go_on(shopper, SHOPPER_ENTERING, 0);
    }
}

static void on_entered(void *context, const struct api_reply *reply)
{
    struct shopper *shopper = context;
    struct tally *tally = shopper->context->tally;

    shopper->busy = false;
    if (reply->status == 201 || reply->status == 200) {
        (void)snprintf(shopper->ticket, sizeof(shopper->ticket), "%s",
                       api_text(reply, "queueTicket"));
        read_position(shopper, reply);
    } else if (reply->status == 410 || strcmp(reply->code, "QUEUE_FULL") == 0) {
        tally->turned_away++;
        finish_visit(shopper);
    } else if (may_be_retried(reply) || reply->status == 404) {
        tally_unanswered(tally, reply);
        retry_later(shopper, reply);
    } else {
        tally_unexpected(tally, "entering", reply);
        finish_visit(shopper);
    }
}

static void enter(struct shopper *shopper)
{
    char path[PATH_TEXT];

    (void)snprintf(path, sizeof(path), "/v1/queues/%s/entries", shopper->context->queue);
    request(shopper, (struct api_request){.method = "POST", .path = path, .bearer = shopper->token},
            on_entered);
}

static void on_position(void *context, const struct api_reply *reply)
{
    struct shopper *shopper = context;
    struct tally *tally = shopper->context->tally;

    shopper->busy = false;
    if (reply->status == 200) {
        read_position(shopper, reply);
    } else if (strcmp(reply->code, "QUEUE_RESET") == 0 || reply->status == 404) {
        go_on(shopper, SHOPPER_ENTERING, between(0, 1000));
    } else if (may_be_retried(reply)) {
        tally_unanswered(tally, reply);
        retry_later(shopper, reply);
    } else {
        tally_unexpected(tally, "a poll", reply);
        finish_visit(shopper);
    }
}

static void poll_position(struct shopper *shopper)
{
    char path[PATH_TEXT];

    if (shopper->polls_left > 0 && --shopper->polls_left == 0) {
        if (shopper->temper == TEMPER_VANISHES) {
            shopper->context->tally->vanished++;
            finish_visit(shopper);
            return;
        }
        if (shopper->temper == TEMPER_LEAVES) {
            go_on(shopper, SHOPPER_LEAVING, 0);
            return;
        }
        if (shopper->temper == TEMPER_DAWDLES) {
            go_on(shopper, SHOPPER_IN_LINE, between(8000, 16000));
            return;
        }
    }
    (void)snprintf(path, sizeof(path), "/v1/queues/%s/position", shopper->context->queue);
    request(shopper,
            (struct api_request){.method = "GET",
                                 .path = path,
                                 .bearer = shopper->token,
                                 .queue_ticket = shopper->ticket},
            on_position);
}

static void on_left(void *context, const struct api_reply *reply)
{
    struct shopper *shopper = context;
    struct tally *tally = shopper->context->tally;

    shopper->busy = false;
    if (may_be_retried(reply)) {
        tally_unanswered(tally, reply);
        retry_later(shopper, reply);
        return;
    }
    if (reply->status == 204) {
        tally->left++;
    } else if (reply->status != 404) {
        tally_unexpected(tally, "leaving", reply);
    }
    finish_visit(shopper);
}

static void leave(struct shopper *shopper)
{
    char path[PATH_TEXT];

    (void)snprintf(path, sizeof(path), "/v1/queues/%s/entries", shopper->context->queue);
    request(shopper,
            (struct api_request){.method = "DELETE",
                                 .path = path,
                                 .bearer = shopper->token,
                                 .queue_ticket = shopper->ticket},
            on_left);
}

/* One to three different products, one to three pieces each, under a key of its own. */
static void fill_basket(struct shopper *shopper)
{
    bool taken[SHOP_PRODUCTS] = {false};
    int wanted = (int)between(1, 4);
    int length = snprintf(shopper->basket, sizeof(shopper->basket), "{\"queue\":\"%s\",\"items\":[",
                          shopper->context->queue);

    random_id(shopper->key);
    shopper->order[0] = '\0';
    for (int i = 0; i < wanted; i++) {
        char sku[SKU_TEXT];
        int product = shop_pick();
        if (taken[product]) {
            continue;
        }
        taken[product] = true;
        shop_sku(shopper->context->queue, product, sku);
        length += snprintf(shopper->basket + length, sizeof(shopper->basket) - (size_t)length,
                           "%s{\"sku\":\"%s\",\"quantity\":%" PRId64 "}", i > 0 ? "," : "", sku,
                           between(1, 4));
    }
    (void)snprintf(shopper->basket + length, sizeof(shopper->basket) - (size_t)length, "]}");
    go_on(shopper, SHOPPER_ORDERING, 0);
}

static void on_made(struct shopper *shopper, const struct api_reply *reply)
{
    struct tally *tally = shopper->context->tally;
    const char *id = api_text(reply, "id");

    if (shopper->step == SHOPPER_REPEATING) {
        if (reply->status == 200 && strcmp(id, shopper->order) == 0) {
            tally->replayed++;
        } else {
            tally_unexpected(tally, "a repeat", reply);
        }
        finish_visit(shopper);
        return;
    }
    tally->ordered++;
    (void)snprintf(shopper->order, sizeof(shopper->order), "%s", id);
    if (shopper->temper == TEMPER_REPEATS) {
        go_on(shopper, SHOPPER_REPEATING, between(50, 1500));
    } else {
        finish_visit(shopper);
    }
}

static void on_ordered(void *context, const struct api_reply *reply)
{
    struct shopper *shopper = context;
    struct tally *tally = shopper->context->tally;

    shopper->busy = false;
    tally_order_ends(tally);
    if (reply->status == 201 || reply->status == 200) {
        on_made(shopper, reply);
    } else if (may_be_retried(reply) || strcmp(reply->code, "ORDER_IN_PROGRESS") == 0) {
        /* The same key again: if the order was made after all, this finds it. */
        tally_unanswered(tally, reply);
        retry_later(shopper, reply);
    } else if (strcmp(reply->code, "OUT_OF_STOCK") == 0) {
        tally->out_of_stock++;
        if (--shopper->baskets_left > 0) {
            go_on(shopper, SHOPPER_CHOOSING, between(500, 2000));
        } else {
            go_on(shopper, SHOPPER_LEAVING, 0);
        }
    } else if (strcmp(reply->code, "ENTRY_TOKEN_INVALID") == 0) {
        tally->late++;
        shopper->temper = TEMPER_STEADY;
        go_on(shopper, SHOPPER_ENTERING, between(0, 1000));
    } else {
        tally_unexpected(tally, "an order", reply);
        finish_visit(shopper);
    }
}

static void order(struct shopper *shopper)
{
    tally_order_begins(shopper->context->tally);
    request(shopper,
            (struct api_request){.method = "POST",
                                 .path = "/v1/orders",
                                 .body = shopper->basket,
                                 .bearer = shopper->token,
                                 .entry_token = shopper->entry_token,
                                 .idempotency_key = shopper->key},
            on_ordered);
}

void shopper_init(struct shopper *shopper, const struct shopper_context *context, int64_t arrival)
{
    *shopper = (struct shopper){.context = context, .step = SHOPPER_OUTSIDE, .due = arrival};
}

int64_t shopper_step(struct shopper *shopper, int64_t now)
{
    if (shopper->busy) {
        return now + NEVER;
    }
    if (now < shopper->due) {
        return shopper->due;
    }
    switch (shopper->step) {
    case SHOPPER_OUTSIDE:
        arrive(shopper);
        break;
    case SHOPPER_ENTERING:
        enter(shopper);
        break;
    case SHOPPER_IN_LINE:
        poll_position(shopper);
        break;
    case SHOPPER_CHOOSING:
        fill_basket(shopper);
        break;
    case SHOPPER_ORDERING:
    case SHOPPER_REPEATING:
        order(shopper);
        break;
    case SHOPPER_LEAVING:
        leave(shopper);
        break;
    }
    return shopper->busy ? now + NEVER : shopper->due;
}
