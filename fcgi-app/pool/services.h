/*
 * services — what the handlers of one worker process use, created once at its start.
 */
#ifndef SLUICE_POOL_SERVICES_H
#define SLUICE_POOL_SERVICES_H

#include "lib/settings/settings.h"

struct catalog;
struct redis;
struct postgres;
struct member_verifier;
struct key_set;
struct operator_keys;
struct siteverify;
struct payment_provider;
struct waiting_page;
struct outbox_acks;
struct snapshot;

enum pool { POOL_QUEUE, POOL_ORDER, POOL_OPERATOR, POOL_CATALOG, POOL_PAYMENT };

struct services {
    enum pool pool;
    const struct settings *settings;
    struct member_verifier *members;
    struct key_set *ticket_keys;
    struct key_set *visitor_keys;
    struct key_set *altcha_keys;   /* of the order pool; NULL if not set */
    struct siteverify *siteverify; /* likewise */
    struct payment_provider
        *payment_provider;             /* of the payment pool; NULL if the setting is none */
    struct waiting_page *waiting_page; /* of the queue pool; NULL elsewhere */
    struct snapshot *snapshot;         /* of the queue pool; NULL elsewhere, and if there is none */
    struct redis *redis;               /* blocking client; NULL in the queue pool */
    struct postgres *postgres;         /* NULL in the queue pool */
    struct outbox_acks *outbox_acks;   /* of the order pool; NULL elsewhere */
    struct operator_keys *operators;   /* NULL outside of the operator pool */
    struct catalog *catalog;           /* of the catalog and order pools; NULL elsewhere */
};

#endif
