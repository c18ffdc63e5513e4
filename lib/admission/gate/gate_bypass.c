#include "lib/admission/gate/gate_bypass.h"

#include <string.h>
#include <strings.h>

#include "lib/admission/gate/ip_network.h"
#include "lib/admission/queues/queue_setting_value.h"
#include "lib/base/digest.h"
#include "lib/identity/jwt.h"

enum { JSON_DEPTH = 8 };

struct network_list {
    struct ip_network *all;
    size_t count;
};

struct crawler {
    struct str user_agent;
    struct network_list networks;
};

/** The compiled rules; everything lives in one arena. */
struct gate_bypass {
    struct arena *arena;
    struct network_list networks;
    struct str *paths;
    size_t path_count;
    bool has_secret;
    unsigned char secret[SHA256_BYTES];
    struct crawler *crawlers;
    size_t crawler_count;
};

/** Where rules are parsed to, and where faults are reported. */
struct reading {
    struct arena *arena;
    struct queue_settings_fault *fault;
};

static const char *const MEMBERS[] = {"networks", "paths", "secretSha256", "crawlers"};

#define REFUSE(reading, below, ...)                                                                \
    queue_setting_refuse((reading)->arena, (reading)->fault, "bypass", (below), __VA_ARGS__)

static struct str text_of(json_object *value)
{
    return json_object_is_type(value, json_type_string)
               ? str_sized(json_object_get_string(value), (size_t)json_object_get_string_len(value))
               : str_sized(NULL, 0);
}

static struct str kept(const struct reading *reading, struct str text)
{
    return str_sized(arena_copy(reading->arena, text), text.n);
}

static bool read_count(const struct reading *reading, json_object *list, const char *below,
                       size_t least, const char *of_what, size_t *count)
{
    bool array = json_object_is_type(list, json_type_array);

    *count = array ? json_object_array_length(list) : 0;
    if (!array || *count < least || *count > GATE_BYPASS_LIST_MAX) {
        return REFUSE(reading, below, "%s must be an array of %zu to %d %s",
                      strrchr(below, '/') + 1, least, GATE_BYPASS_LIST_MAX, of_what);
    }
    return true;
}

static bool read_networks(const struct reading *reading, json_object *list, const char *below,
                          size_t least, struct network_list *networks)
{
    size_t count;

    if (!read_count(reading, list, below, least, "networks, each a text like 10.0.0.0/8", &count)) {
        return false;
    }
    networks->all = arena_alloc(reading->arena, count * sizeof(*networks->all));
    for (size_t i = 0; i < count; i++) {
        struct str text = text_of(json_object_array_get_idx(list, i));
        if (!ip_network_parse(text, &networks->all[i])) {
            return REFUSE(reading, arena_format(reading->arena, "%s/%zu", below, i),
                          "a network must be an IPv4 or IPv6 address, alone or with the length of "
                          "its prefix and no bit set behind that, like 192.0.2.7, 10.0.0.0/8 or "
                          "2001:db8::/32");
        }
    }
    networks->count = count;
    return true;
}

static bool has_control_character(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c < ' ' || c == 0x7f) {
            return true;
        }
    }
    return false;
}

static bool contains(struct str text, struct str needle)
{
    for (size_t i = 0; i + needle.n <= text.n; i++) {
        if (strncasecmp(text.p + i, needle.p, needle.n) == 0) {
            return true;
        }
    }
    return false;
}

/* A prefix with anything that no decoded and normalized path contains could never match. */
static bool is_path_prefix(struct str text)
{
    return text.n >= 1 && text.n <= GATE_BYPASS_PATH_MAX && text.p[0] == '/' &&
           !has_control_character(text) && !contains(text, STR("..")) &&
           !contains(text, STR("//")) && !contains(text, STR("?")) && !contains(text, STR("#")) &&
           !contains(text, STR("%")) && !contains(text, STR("\\"));
}

static bool read_paths(const struct reading *reading, json_object *list, struct gate_bypass *bypass)
{
    size_t count;

    if (!read_count(reading, list, "/paths", 0, "paths, each a text like /pay/callback", &count)) {
        return false;
    }
    bypass->paths = arena_alloc(reading->arena, count * sizeof(*bypass->paths));
    for (size_t i = 0; i < count; i++) {
        struct str text = text_of(json_object_array_get_idx(list, i));
        if (!is_path_prefix(text)) {
            return REFUSE(reading, arena_format(reading->arena, "/paths/%zu", i),
                          "a path must begin with '/' and have at most %d bytes; it is compared "
                          "with the decoded path alone, so '..', '//', '?', '#', '%%', '\\' and "
                          "control characters are not allowed",
                          GATE_BYPASS_PATH_MAX);
        }
        bypass->paths[i] = kept(reading, text);
    }
    bypass->path_count = count;
    return true;
}

/* The value of a hexadecimal digit; 16 for any other character. */
static unsigned int hex_value(char c)
{
    static const char DIGITS[] = "0123456789abcdef";
    const char *at = c == '\0' ? NULL : strchr(DIGITS, c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c);

    return at == NULL ? 16 : (unsigned int)(at - DIGITS);
}

static bool read_secret(const struct reading *reading, json_object *value,
                        struct gate_bypass *bypass)
{
    struct str text = text_of(value);
    bool good = text.n == sizeof(bypass->secret) * 2;

    for (size_t i = 0; good && i < sizeof(bypass->secret); i++) {
        unsigned int high = hex_value(text.p[2 * i]);
        unsigned int low = hex_value(text.p[2 * i + 1]);
        good = high < 16 && low < 16;
        bypass->secret[i] = (unsigned char)((high << 4 | low) & 0xff);
    }
    bypass->has_secret = good;
    return good ||
           REFUSE(reading, "/secretSha256",
                  "secretSha256 must be the SHA-256 of the secret as 64 hexadecimal digits");
}

static bool is_user_agent(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < ' ' || text.p[i] > '~') {
            return false;
        }
    }
    return text.n >= GATE_BYPASS_AGENT_MIN && text.n <= GATE_BYPASS_AGENT_MAX;
}

static bool read_crawler(const struct reading *reading, json_object *value, const char *below,
                         struct crawler *crawler)
{
    json_object *user_agent = NULL;
    json_object *networks = NULL;

    if (!json_object_is_type(value, json_type_object) || json_object_object_length(value) != 2 ||
        !json_object_object_get_ex(value, "userAgent", &user_agent) ||
        !json_object_object_get_ex(value, "networks", &networks)) {
        return REFUSE(reading, below, "a crawler must have exactly userAgent and networks");
    }
    if (!is_user_agent(text_of(user_agent))) {
        return REFUSE(reading, arena_format(reading->arena, "%s/userAgent", below),
                      "userAgent must be a part of the crawler's User-Agent, %d to %d printable "
                      "ASCII characters",
                      GATE_BYPASS_AGENT_MIN, GATE_BYPASS_AGENT_MAX);
    }
    crawler->user_agent = kept(reading, text_of(user_agent));
    return read_networks(reading, networks, arena_format(reading->arena, "%s/networks", below), 1,
                         &crawler->networks);
}

static bool read_crawlers(const struct reading *reading, json_object *list,
                          struct gate_bypass *bypass)
{
    size_t count;

    if (!read_count(reading, list, "/crawlers", 0, "crawlers, each {\"userAgent\", \"networks\"}",
                    &count)) {
        return false;
    }
    bypass->crawlers = arena_alloc(reading->arena, count * sizeof(*bypass->crawlers));
    for (size_t i = 0; i < count; i++) {
        if (!read_crawler(reading, json_object_array_get_idx(list, i),
                          arena_format(reading->arena, "/crawlers/%zu", i), &bypass->crawlers[i])) {
            return false;
        }
    }
    bypass->crawler_count = count;
    return true;
}

static bool refuse_unknown(const struct reading *reading, json_object *value)
{
    json_object_object_foreach(value, name, member)
    {
        bool known = false;
        (void)member;
        for (size_t i = 0; i < sizeof(MEMBERS) / sizeof(MEMBERS[0]); i++) {
            known = known || strcmp(name, MEMBERS[i]) == 0;
        }
        if (!known) {
            return REFUSE(
                reading,
                arena_format(reading->arena, "/%s", json_pointer_token(reading->arena, name)),
                "bypass has no member of that name, only networks, paths, secretSha256 and "
                "crawlers");
        }
    }
    return true;
}

static bool read_rules(const struct reading *reading, json_object *value,
                       struct gate_bypass *bypass)
{
    json_object *networks = json_object_object_get(value, "networks");
    json_object *paths = json_object_object_get(value, "paths");
    json_object *secret = json_object_object_get(value, "secretSha256");
    json_object *crawlers = json_object_object_get(value, "crawlers");

    return refuse_unknown(reading, value) &&
           (networks == NULL ||
            read_networks(reading, networks, "/networks", 0, &bypass->networks)) &&
           (paths == NULL || read_paths(reading, paths, bypass)) &&
           (secret == NULL || read_secret(reading, secret, bypass)) &&
           (crawlers == NULL || read_crawlers(reading, crawlers, bypass));
}

bool gate_bypass_check(json_object *value, struct arena *arena, struct queue_settings_fault *fault)
{
    const struct reading reading = {.arena = arena, .fault = fault};
    struct gate_bypass bypass = {.arena = arena};
    size_t length = 0;

    if (!json_object_is_type(value, json_type_object)) {
        return REFUSE(&reading, "",
                      "bypass must be null or an object of networks, paths, secretSha256 and "
                      "crawlers");
    }
    if (!read_rules(&reading, value, &bypass)) {
        return false;
    }
    (void)json_object_to_json_string_length(
        value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &length);
    if (length > GATE_BYPASS_TEXT_MAX) {
        return REFUSE(&reading, "", "bypass must be at most %d bytes of JSON, it has %zu",
                      GATE_BYPASS_TEXT_MAX, length);
    }
    return true;
}

struct gate_bypass *gate_bypass_parse(struct str text)
{
    struct queue_settings_fault fault;
    json_object *value = text.n > GATE_BYPASS_TEXT_MAX ? NULL : jwt_json_object(text, JSON_DEPTH);

    if (value == NULL) {
        return NULL;
    }
    struct arena *arena = arena_new();
    const struct reading reading = {.arena = arena, .fault = &fault};
    struct gate_bypass *bypass = arena_alloc(arena, sizeof(*bypass));
    bypass->arena = arena;
    bool good = read_rules(&reading, value, bypass);
    (void)json_object_put(value);
    if (!good) {
        arena_free(arena);
        return NULL;
    }
    return bypass;
}

void gate_bypass_free(struct gate_bypass *bypass)
{
    if (bypass != NULL) {
        arena_free(bypass->arena);
    }
}

static bool any_holds(const struct network_list *networks, const struct ip_address *address)
{
    for (size_t i = 0; i < networks->count; i++) {
        if (ip_network_holds(&networks->all[i], address)) {
            return true;
        }
    }
    return false;
}

static bool any_path_matches(const struct gate_bypass *bypass, struct str path)
{
    if (has_control_character(path) || contains(path, STR("/..")) || contains(path, STR("\\"))) {
        return false;
    }
    for (size_t i = 0; i < bypass->path_count; i++) {
        struct str prefix = bypass->paths[i];
        if (str_starts(path, prefix) &&
            (prefix.p[prefix.n - 1] == '/' || path.n == prefix.n || path.p[prefix.n] == '/')) {
            return true;
        }
    }
    return false;
}

static bool is_secret(const struct gate_bypass *bypass, struct str given)
{
    unsigned char digest[SHA256_BYTES];

    if (!bypass->has_secret || given.n == 0) {
        return false;
    }
    sha256(given, digest);
    return constant_time_equal(str_sized((const char *)digest, sizeof(digest)),
                               str_sized((const char *)bypass->secret, sizeof(bypass->secret)));
}

static bool is_crawler(const struct gate_bypass *bypass, struct str user_agent,
                       const struct ip_address *address)
{
    for (size_t i = 0; i < bypass->crawler_count; i++) {
        const struct crawler *crawler = &bypass->crawlers[i];
        if (contains(user_agent, crawler->user_agent) && any_holds(&crawler->networks, address)) {
            return true;
        }
    }
    return false;
}

enum gate_bypass_reason gate_bypass_match(const struct gate_bypass *bypass,
                                          const struct gate_bypass_facts *facts)
{
    struct ip_address address;

    if (bypass == NULL) {
        return GATE_BYPASS_NONE;
    }
    bool known = ip_address_parse(facts->address, &address);
    if (known && any_holds(&bypass->networks, &address)) {
        return GATE_BYPASS_NETWORK;
    }
    if (any_path_matches(bypass, facts->path)) {
        return GATE_BYPASS_PATH;
    }
    if (is_secret(bypass, facts->secret)) {
        return GATE_BYPASS_SECRET;
    }
    if (known && is_crawler(bypass, facts->user_agent, &address)) {
        return GATE_BYPASS_CRAWLER;
    }
    return GATE_BYPASS_NONE;
}
