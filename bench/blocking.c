/*
 * sluice-blocking — the queue pool's two busiest routes as a blocking FastCGI worker: POST
 * …/entries and GET …/position, one request and one round trip to Redis at a time. The yardstick
 * for the event loop; it uses the same libraries, and leaves out what no benchmark requests
 * (visitors, takeovers, codes).
 */
#include <fcgiapp.h>
#include <stdio.h>
#include <string.h>

#include "lib/admission/line/line.h"
#include "lib/base/clock.h"
#include "lib/identity/member_jwt.h"
#include "lib/identity/queue_ticket.h"
#include "lib/settings/program_options.h"
#include "lib/store/redis.h"

enum { QUEUE_ROOM = 64, TICKET_LIFE_S = 86400 };

struct worker {
    const struct settings *settings;
    struct redis *redis;
    struct key_set *keys;
    struct member_verifier *members;
    struct arena *arena;
};

static const char *const NEEDED[] = {"redis_socket", "queue_ticket_keys_file", NULL};

static void refuse(FCGX_Request *request, const char *status, const char *code)
{
    FCGX_FPrintF(request->out,
                 "Status: %s\r\nContent-Type: application/problem+json\r\n\r\n{\"code\":\"%s\"}",
                 status, code);
}

static void answer(FCGX_Request *request, const char *status, const struct line_caller *caller,
                   const struct line_position *position, const char *ticket)
{
    char now[RFC3339_TEXT + 1];
    char body[2048];

    rfc3339_format(position->now_ms, now);
    int length = snprintf(
        body, sizeof(body),
        "{\"queue\":\"%.*s\",\"queueState\":\"%.*s\",\"status\":\"%s\",\"rank\":%lld,"
        "\"currentTotalWaitingCount\":%lld,\"retryAfterMs\":5000,\"entryToken\":\"%.*s\","
        "\"queueTicket\":\"%s\",\"serverTime\":\"%s\",\"seq\":%lld,\"epoch\":%lld,\"incarnation\":%"
        "lld}",
        STR_ARG(caller->queue), STR_ARG(position->queue_state),
        position->status == LINE_READY ? "READY" : "WAITING", (long long)position->rank,
        (long long)position->waiting, STR_ARG(position->entry_token), ticket, now,
        (long long)position->seq, (long long)position->epoch, (long long)position->incarnation);
    FCGX_FPrintF(request->out,
                 "Status: %s\r\nContent-Type: application/json\r\nCache-Control: "
                 "no-store\r\nContent-Length: %d\r\n\r\n",
                 status, length);
    FCGX_PutStr(body, length, request->out);
}

static void position(struct worker *worker, FCGX_Request *request, struct line_caller *caller)
{
    struct queue_ticket ticket;
    struct line_position found;

    if (queue_ticket_verify(
            worker->keys, str_of(FCGX_GetParam("HTTP_X_QUEUE_TICKET", request->envp)),
            caller->queue, clock_wall_ms(), worker->arena, &ticket) != QUEUE_TICKET_VALID) {
        refuse(request, "401 Unauthorized", "TICKET_INVALID");
        return;
    }
    caller->member = ticket.subject;
    caller->has_ticket = true;
    caller->seq = ticket.seq;
    caller->generation = ticket.generation;
    caller->epoch = ticket.epoch;
    caller->incarnation = ticket.incarnation;
    caller->lane = ticket.lane;
    const redisReply *reply =
        redis_call(worker->redis, worker->arena, line_position(worker->arena, caller));
    if (reply == NULL || line_read_position(reply, &found) != OUTCOME_OK) {
        refuse(request, "503 Service Unavailable", "ADMISSION_UNAVAILABLE");
        return;
    }
    answer(request, "200 OK", caller, &found, "");
}

static void enter(struct worker *worker, FCGX_Request *request, struct line_caller *caller)
{
    struct str login = str_of(FCGX_GetParam("HTTP_AUTHORIZATION", request->envp));
    struct member member;
    struct line_position found;
    char text[QUEUE_TICKET_TEXT + 1];

    if (!str_starts(login, STR("Bearer ")) ||
        member_jwt_verify(worker->members, str_sized(login.p + 7, login.n - 7), clock_wall_ms(),
                          &member) != MEMBER_VALID) {
        refuse(request, "401 Unauthorized", "UNAUTHENTICATED");
        return;
    }
    caller->member = str_of(member.id);
    const redisReply *reply =
        redis_call(worker->redis, worker->arena, line_enter(worker->arena, caller, LINE_TAKE_OVER));
    enum outcome outcome = reply == NULL ? OUTCOME_NOT_FOUND : line_read_position(reply, &found);
    if (outcome != OUTCOME_ENTERED && outcome != OUTCOME_ALREADY) {
        refuse(request, "503 Service Unavailable", "ADMISSION_UNAVAILABLE");
        return;
    }
    int64_t now_s = clock_wall_ms() / 1000;
    const struct queue_ticket ticket = {.subject = caller->member,
                                        .queue = caller->queue,
                                        .lane = STR(QUEUE_TICKET_LANE_DEFAULT),
                                        .epoch = found.epoch,
                                        .seq = found.seq,
                                        .generation = found.generation,
                                        .incarnation = found.incarnation,
                                        .issued_at_s = now_s,
                                        .expires_at_s = now_s + TICKET_LIFE_S};
    (void)queue_ticket_sign(worker->keys, &ticket, text);
    answer(request, outcome == OUTCOME_ENTERED ? "201 Created" : "200 OK", caller, &found, text);
}

/* /blocking/v1/queues/{queue}/{position|entries} */
static void serve(struct worker *worker, FCGX_Request *request)
{
    const char *path = FCGX_GetParam("REQUEST_URI", request->envp);
    const char *queue = path == NULL ? NULL : strstr(path, "/queues/");
    const char *end = queue == NULL ? NULL : strchr(queue + 8, '/');

    if (end == NULL || end - queue - 8 >= QUEUE_ROOM) {
        refuse(request, "404 Not Found", "NOT_FOUND");
        return;
    }
    struct line_caller caller = {.queue = str_sized(queue + 8, (size_t)(end - queue) - 8)};
    if (strcmp(end, "/position") == 0) {
        position(worker, request, &caller);
    } else {
        enter(worker, request, &caller);
    }
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct program program = {
        .name = "sluice-blocking",
        .summary = "A yardstick for benchmarks: entries and positions by a blocking worker.",
        .required = NEEDED,
    };
    char error[SECRET_ERROR];
    FCGX_Request request;
    int code = program_start(&program, argc, argv, &settings);

    if (code != PROGRAM_GOES_ON) {
        return code;
    }
    struct worker worker = {.settings = &settings,
                            .redis = redis_new(&settings, settings.redis_timeout_ms),
                            .keys = key_set_open(settings.queue_ticket_keys_file, error),
                            .members = member_verifier_new(&settings, error),
                            .arena = arena_new()};
    if (worker.keys == NULL || worker.members == NULL || FCGX_Init() != 0 ||
        FCGX_InitRequest(&request, 0, 0) != 0) {
        (void)fprintf(stderr, "sluice-blocking: the keys or the socket are not usable\n");
        return PROGRAM_BAD_CONFIG;
    }
    while (FCGX_Accept_r(&request) == 0) {
        serve(&worker, &request);
        FCGX_Finish_r(&request);
        arena_reset(worker.arena);
    }
    return PROGRAM_OK;
}
