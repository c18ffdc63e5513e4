/*
 * gate_bypass — which requests pass the gate without waiting: the queue setting `bypass`.
 *
 *     {"networks": ["10.0.0.0/8", "2001:db8::/32", "192.0.2.7"],
 *      "paths": ["/pay/callback", "/static/"],
 *      "secretSha256": "<SHA-256 of the secret, 64 hexadecimal digits>",
 *      "crawlers": [{"userAgent": "Googlebot", "networks": ["66.249.64.0/19"]}]}
 *
 * Every member may be left out or null. At most 64 of each, 16 KiB in total. One match is enough;
 * of a crawler both parts must match, since a name alone proves nothing. "/static/" matches
 * everything below it; "/pay" matches itself and everything below it, but not "/payment".
 */
#ifndef SLUICE_ADMISSION_GATE_BYPASS_H
#define SLUICE_ADMISSION_GATE_BYPASS_H

#include <stdbool.h>

#include <json-c/json.h>

#include "lib/admission/queues/queue_settings.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"

enum {
    GATE_BYPASS_LIST_MAX = 64,
    GATE_BYPASS_TEXT_MAX = 16 * 1024,
    GATE_BYPASS_PATH_MAX = 256, /* bytes */
    GATE_BYPASS_AGENT_MIN = 3,
    GATE_BYPASS_AGENT_MAX = 64
};

struct gate_bypass;

/** The relevant parts of a request; header values as sent, empty if missing. */
struct gate_bypass_facts {
    struct str address;    /* remote address */
    struct str path;       /* percent-decoded, with "." and ".." resolved, without the query */
    struct str user_agent; /* User-Agent */
    struct str secret;     /* X-Sluice-Bypass */
};

enum gate_bypass_reason {
    GATE_BYPASS_NONE,
    GATE_BYPASS_NETWORK,
    GATE_BYPASS_PATH,
    GATE_BYPASS_SECRET,
    GATE_BYPASS_CRAWLER
};

/** Validates a value (not NULL). Returns false with `*fault` filled, in `arena`, if it is
 *  refused. */
bool gate_bypass_check(json_object *value, struct arena *arena, struct queue_settings_fault *fault);

/** Compiles the rules from the setting's text, as stored in Redis; free them with
 *  gate_bypass_free(). NULL if there are none ("" or "null"), and for a text that
 *  gate_bypass_check() would refuse. */
struct gate_bypass *gate_bypass_parse(struct str text);

/** NULL is allowed. */
void gate_bypass_free(struct gate_bypass *bypass);

/** The first rule that lets the request pass. `bypass` may be NULL. A path with a segment that
 *  begins with "..", a backslash or a control character matches no path rule: servers behind the
 *  gate differ in how they interpret it. */
enum gate_bypass_reason gate_bypass_match(const struct gate_bypass *bypass,
                                          const struct gate_bypass_facts *facts);

#endif
