#include "lib/store/redis_servers.h"

#include <string.h>

#include "lib/store/redis_reply.h"

/* CRC-16 as used by Redis Cluster (XMODEM): polynomial 0x1021, initial value 0. */
static uint16_t crc16(struct str text)
{
    uint16_t crc = 0;

    for (size_t i = 0; i < text.n; i++) {
        crc = (uint16_t)(crc ^ (uint16_t)((uint16_t)(unsigned char)text.p[i] << 8));
        for (int bit = 0; bit < 8; bit++) {
            crc = (uint16_t)((crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1);
        }
    }
    return crc;
}

int redis_slot_of(struct str key)
{
    struct str before;
    struct str rest;
    struct str tag;

    if (str_split(key, '{', &before, &rest) && str_split(rest, '}', &tag, &before) && tag.n > 0) {
        key = tag;
    }
    return crc16(key) % REDIS_SLOTS;
}

void redis_slots_clear(struct redis_slots *slots)
{
    slots->count = 0;
    for (int i = 0; i < REDIS_SLOTS; i++) {
        slots->owner[i] = -1;
    }
}

static int index_of(struct redis_slots *slots, const struct redis_server *server)
{
    for (size_t i = 0; i < slots->count; i++) {
        if (redis_server_equal(&slots->servers[i], server)) {
            return (int)i;
        }
    }
    if (slots->count == REDIS_SERVERS_MAX) {
        return -1;
    }
    slots->servers[slots->count] = *server;
    return (int)slots->count++;
}

/* Parses {host, port, …}; an empty or missing host is the sender's. */
static bool read_server(const redisReply *reply, const struct redis_server *from,
                        struct redis_server *server)
{
    struct str host = redis_reply_text(reply, 0);
    int64_t port = redis_reply_int(reply, 1, 0);

    if (host.n > ENDPOINT_HOST || port < 1 || port > 65535) {
        return false;
    }
    *server = (struct redis_server){.endpoint = {.port = (int)port}};
    str_copy(host.n > 0 ? host : str_of(from->endpoint.host), server->endpoint.host,
             sizeof(server->endpoint.host));
    return true;
}

bool redis_slots_read(struct redis_slots *slots, const redisReply *reply,
                      const struct redis_server *from)
{
    struct redis_slots read;

    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY) {
        return false;
    }
    redis_slots_clear(&read);
    for (size_t i = 0; i < reply->elements; i++) {
        const redisReply *range = reply->element[i];
        int64_t first = redis_reply_int(range, 0, -1);
        int64_t last = redis_reply_int(range, 1, -1);
        struct redis_server server;
        if (first < 0 || last < first || last >= REDIS_SLOTS || range->elements < 3 ||
            !read_server(range->element[2], from, &server)) {
            return false;
        }
        int owner = index_of(&read, &server);
        if (owner < 0) {
            return false;
        }
        for (int64_t slot = first; slot <= last; slot++) {
            read.owner[slot] = (int16_t)owner;
        }
    }
    *slots = read;
    return true;
}

int redis_slots_note(struct redis_slots *slots, int slot, const struct redis_server *server)
{
    int owner = index_of(slots, server);

    slots->owner[slot] = (int16_t)owner;
    return owner;
}

bool redis_slots_complete(const struct redis_slots *slots)
{
    return memchr(slots->owner, 0xff, sizeof(slots->owner)) == NULL;
}

bool redis_sentinel_read(const redisReply *reply, struct redis_server *server)
{
    static const struct redis_server nobody;

    return reply != NULL && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
           redis_reply_text(reply, 0).n > 0 && read_server(reply, &nobody, server);
}

/* Parses "SLOT HOST:PORT"; an IPv6 address has no brackets here. */
static bool read_redirect(struct str text, const struct redis_server *from, int *slot,
                          struct redis_server *server)
{
    struct str number;
    struct str place;
    int64_t port;
    int64_t read;
    size_t colon;

    if (!str_split(text, ' ', &number, &place) ||
        !str_to_int64(number, 0, REDIS_SLOTS - 1, &read)) {
        return false;
    }
    for (colon = place.n; colon > 0 && place.p[colon - 1] != ':'; colon--) {
    }
    if (colon == 0 || colon - 1 > ENDPOINT_HOST ||
        !str_to_int64(str_sized(place.p + colon, place.n - colon), 1, 65535, &port)) {
        return false;
    }
    struct str host = str_sized(place.p, colon - 1);
    *slot = (int)read;
    *server = (struct redis_server){.endpoint = {.port = (int)port}};
    str_copy(host.n > 0 ? host : str_of(from->endpoint.host), server->endpoint.host,
             sizeof(server->endpoint.host));
    return true;
}

enum redis_redirect redis_redirect_of(const redisReply *reply, const struct redis_server *from,
                                      int *slot, struct redis_server *server)
{
    struct str word;
    struct str rest;

    if (reply == NULL || reply->type != REDIS_REPLY_ERROR) {
        return REDIS_STAYS;
    }
    (void)str_split(str_sized(reply->str, (size_t)reply->len), ' ', &word, &rest);
    if (str_equal(word, STR("MOVED"))) {
        return read_redirect(rest, from, slot, server) ? REDIS_MOVED : REDIS_STAYS;
    }
    if (str_equal(word, STR("ASK"))) {
        return read_redirect(rest, from, slot, server) ? REDIS_ASK : REDIS_STAYS;
    }
    if (str_equal(word, STR("TRYAGAIN")) || str_equal(word, STR("CLUSTERDOWN"))) {
        return REDIS_AGAIN;
    }
    if (str_equal(word, STR("READONLY")) || str_equal(word, STR("LOADING")) ||
        str_equal(word, STR("MASTERDOWN"))) {
        return REDIS_NO_PRIMARY;
    }
    return REDIS_STAYS;
}
