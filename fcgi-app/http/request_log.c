#include "fcgi-app/http/request_log.h"

#include "fcgi-app/http/problem.h"
#include "lib/base/digest.h"

enum { HASH_SHOWN = 16, LINES_A_SECOND = 100 };

static const char *const METHOD_NAMES[] = {"GET",   "HEAD",   "POST", "PUT",
                                           "PATCH", "DELETE", "OTHER"};

static struct {
    enum log_level level;
    struct str member;
    int64_t second;
    int64_t written; /* at info in this second */
    int64_t left_out;
} request_logger = {.level = LOG_LEVEL_INFO};

void request_log_start(enum log_level level)
{
    request_logger.level = level;
}

void request_log_member(struct str id)
{
    request_logger.member = id;
}

struct str request_log_take_member(void)
{
    struct str id = request_logger.member;

    request_logger.member = str_sized(NULL, 0);
    return id;
}

static bool is_one_too_many(int64_t now_ms)
{
    if (now_ms / 1000 != request_logger.second) {
        request_logger.second = now_ms / 1000;
        request_logger.written = 0;
    }
    if (request_logger.written < LINES_A_SECOND) {
        request_logger.written++;
        return false;
    }
    request_logger.left_out++;
    return true;
}

void request_log(const struct request *request, const struct response *response, const char *route,
                 struct str member, int64_t started_ms, int64_t now_ms)
{
    bool is_error = problem_class(response) == METRIC_CLASS_5XX;
    enum log_level level = is_error ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG;
    struct str code = response->problem == NULL ? str_sized(NULL, 0) : response->problem->code;
    char hash[SHA256_TEXT + 1] = "";

    if (level < request_logger.level || (level == LOG_LEVEL_INFO && is_one_too_many(now_ms))) {
        return;
    }
    if (member.n > 0) {
        sha256_text(member, hash);
    }
    log_set_request(request->request_id, request->traceparent);
    log_event(level, "request",
              LOG_FIELDS(LOG_TEXT("method", METHOD_NAMES[request->method]),
                         LOG_TEXT("route", route), LOG_INT("status", response->status),
                         LOG_STR("code", code), LOG_INT("durationMs", now_ms - started_ms),
                         LOG_STR("member", str_sized(hash, member.n > 0 ? HASH_SHOWN : 0)),
                         LOG_INT("leftOut", request_logger.left_out)));
    log_set_request(str_sized(NULL, 0), str_sized(NULL, 0));
    request_logger.left_out = level == LOG_LEVEL_INFO ? 0 : request_logger.left_out;
}
