#include "demo/shop.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/random.h"

enum {
    PATH_TEXT = 256,
    BODY_TEXT = 512,
    RETRY_MS = 1000,
    STATS_MS = 1000,
    ROUND_MS = 5000,
    IDLE_MS = 1000
};

struct product {
    const char *name; /* also the end of its SKU */
    int64_t price;
    int64_t shelf;       /* pieces when full */
    int64_t fill_below;  /* restocked when a round finds fewer */
    uint32_t popularity; /* of 100 picks */
};

/* The print is scarce and restocked only once it is gone: some baskets meet an empty shelf. */
static const struct product PRODUCTS[SHOP_PRODUCTS] = {
    {"tea", 9000, 2000, 1000, 45},
    {"mug", 15000, 1500, 700, 30},
    {"sticker", 0, 1000, 500, 17},
    {"print", 48000, 40, 1, 8},
};

static const char SETTINGS[] =
    "{\"ratePerSecond\":20,\"burst\":20,\"maxActive\":60,\"maxInFlight\":20,"
    "\"entryTtlSeconds\":30,\"pickupSeconds\":10,\"message\":\"A simulated sale\"}";

void shop_init(struct shop *shop, struct api_client *api, struct tally *tally, const char *queue,
               const char *admin_key)
{
    *shop = (struct shop){
        .api = api,
        .tally = tally,
        .queue = queue,
        .admin_key = admin_key,
    };
}

void shop_sku(const char *queue, int number, char sku[SKU_TEXT])
{
    (void)snprintf(sku, SKU_TEXT, "%.50s-%s", queue, PRODUCTS[number].name);
}

int shop_pick(void)
{
    uint32_t luck = random_below(100);
    int number = 0;

    while (number < SHOP_PRODUCTS - 1 && luck >= PRODUCTS[number].popularity) {
        luck -= PRODUCTS[number].popularity;
        number++;
    }
    return number;
}

static void ask(struct shop *shop, const char *method, const char *path, const char *body,
                api_done *done)
{
    const struct api_request request = {
        .method = method, .path = path, .body = body, .bearer = shop->admin_key};

    api_send(shop->api, &request, done, shop);
}

/* Records an unexpected answer. */
static void note(struct shop *shop, const char *asked, const struct api_reply *reply)
{
    if (reply->status == 0 || reply->status == 429 || reply->status == 503) {
        tally_unanswered(shop->tally, reply);
    } else {
        tally_unexpected(shop->tally, asked, reply);
    }
}

/* A round through all shelves; the first one opens the shop. */
static void begin_round(struct shop *shop, int64_t in_ms)
{
    shop->shelf = 0;
    shop->next_look = clock_monotonic_ms() + in_ms;
}

static void next_shelf(struct shop *shop)
{
    shop->shelf++;
    if (shop->shelf == SHOP_PRODUCTS) {
        shop->open = true;
        begin_round(shop, ROUND_MS);
    }
}

static void shelf_path(const struct shop *shop, char path[PATH_TEXT])
{
    char sku[SKU_TEXT];

    shop_sku(shop->queue, shop->shelf, sku);
    (void)snprintf(path, PATH_TEXT, "/v1/admin/products/%s", sku);
}

static void on_filled(void *context, const struct api_reply *reply)
{
    struct shop *shop = context;

    shop->asking = false;
    if (reply->status == 200 || reply->status == 201) {
        next_shelf(shop);
    } else {
        note(shop, "filling a shelf", reply);
        shop->next_look = clock_monotonic_ms() + RETRY_MS;
    }
}

/* `stock` includes sold pieces: the shelf is full when `shelf` pieces are available. */
static void fill_shelf(struct shop *shop, int64_t stock, int64_t available)
{
    const struct product *product = &PRODUCTS[shop->shelf];
    int64_t missing = product->shelf > available ? product->shelf - available : 0;
    char path[PATH_TEXT];
    char body[BODY_TEXT];

    shelf_path(shop, path);
    (void)snprintf(body, sizeof(body),
                   "{\"name\":\"Demo %s\",\"price\":{\"amount\":%" PRId64
                   ",\"currency\":\"KRW\"},\"stock\":%" PRId64 ",\"queue\":\"%s\"}",
                   product->name, product->price, stock + missing, shop->queue);
    shop->asking = true;
    ask(shop, "PUT", path, body, on_filled);
}

static void on_shelf(void *context, const struct api_reply *reply)
{
    struct shop *shop = context;
    int64_t available = (int64_t)api_number(reply, "available", 0);

    shop->asking = false;
    if (reply->status == 404 ||
        (reply->status == 200 && (!shop->open || available < PRODUCTS[shop->shelf].fill_below))) {
        fill_shelf(shop, (int64_t)api_number(reply, "stock", 0), available);
    } else if (reply->status == 200) {
        next_shelf(shop);
    } else {
        note(shop, "a product", reply);
        shop->next_look = clock_monotonic_ms() + RETRY_MS;
    }
}

static void look_at_shelf(struct shop *shop)
{
    char path[PATH_TEXT];

    shelf_path(shop, path);
    shop->asking = true;
    ask(shop, "GET", path, NULL, on_shelf);
}

static void on_queue(void *context, const struct api_reply *reply)
{
    struct shop *shop = context;

    shop->asking = false;
    if (reply->status == 200 || reply->status == 201) {
        shop->queue_made = true;
        begin_round(shop, 0);
    } else {
        note(shop, "the queue", reply);
        shop->next_look = clock_monotonic_ms() + RETRY_MS;
    }
}

static void make_queue(struct shop *shop)
{
    char path[PATH_TEXT];

    (void)snprintf(path, sizeof(path), "/v1/admin/queues/%s", shop->queue);
    shop->asking = true;
    ask(shop, "PUT", path, SETTINGS, on_queue);
}

static void on_emptied(void *context, const struct api_reply *reply)
{
    struct shop *shop = context;

    shop->asking = false;
    shop->emptied = reply->status == 200;
    if (!shop->emptied) {
        note(shop, "the reset", reply);
        shop->next_look = clock_monotonic_ms() + RETRY_MS;
    }
}

/* The shoppers of an earlier run will never come back, but their places would still take their
 * turn. */
static void empty_queue(struct shop *shop)
{
    char path[PATH_TEXT];

    (void)snprintf(path, sizeof(path), "/v1/admin/queues/%s/actions/reset", shop->queue);
    shop->asking = true;
    ask(shop, "POST", path, NULL, on_emptied);
}

static void on_stats(void *context, const struct api_reply *reply)
{
    struct shop *shop = context;

    shop->asking_stats = false;
    shop->numbers.known = reply->status == 200;
    if (reply->status == 404) {
        /* The queue was deleted: it is created again. */
        shop->open = false;
        shop->queue_made = false;
    } else if (reply->status != 200) {
        note(shop, "stats", reply);
    } else {
        shop->numbers.waiting = (int64_t)api_number(reply, "waiting", 0);
        shop->numbers.ready = (int64_t)api_number(reply, "ready", 0);
        shop->numbers.admitted_per_second = api_number(reply, "admittedPerSecond", 0);
    }
}

static void ask_stats(struct shop *shop)
{
    char path[PATH_TEXT];

    (void)snprintf(path, sizeof(path), "/v1/admin/queues/%s/stats", shop->queue);
    shop->asking_stats = true;
    ask(shop, "GET", path, NULL, on_stats);
}

int64_t shop_step(struct shop *shop, int64_t now)
{
    if (!shop->asking && now >= shop->next_look) {
        if (!shop->queue_made) {
            make_queue(shop);
        } else if (!shop->emptied) {
            empty_queue(shop);
        } else {
            look_at_shelf(shop);
        }
    }
    if (shop->open && !shop->asking_stats && now >= shop->next_stats) {
        shop->next_stats = now + STATS_MS;
        ask_stats(shop);
    }
    int64_t look = shop->asking ? IDLE_MS : shop->next_look - now;
    int64_t stats = shop->asking_stats || !shop->open ? IDLE_MS : shop->next_stats - now;
    return look < stats ? look : stats;
}
