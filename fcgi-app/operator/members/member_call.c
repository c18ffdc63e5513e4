#include "fcgi-app/operator/members/member_call.h"

#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/members/member_why.h"
#include "fcgi-app/operator/queues/queue_answer.h"
#include "lib/admission/members/member.h"
#include "lib/identity/visitor.h"
#include "lib/store/redis.h"

bool member_begin(const struct services *services, const struct request *request,
                  struct response *response, bool reads, struct member_call *call)
{
    if (!operator_begin(services, request, response, reads, &call->operator)) {
        return false;
    }
    call->member = request->parameters[1];
    if (!visitor_or_member_is(call->member)) {
        problem_answer(
            request, response, PROBLEM_NOT_FOUND,
            "That is not a member's id (1 to 64 of A-Z a-z 0-9 . _ : -) or a visitor's.");
        return false;
    }
    return true;
}

static const char *details_of(const struct request *request, struct str member)
{
    struct buffer json;

    buffer_init(&json, 1024);
    buffer_add(&json, STR("{\"after\":{\"member\":"));
    buffer_add_json_string(&json, member);
    buffer_add(&json, STR("}}"));
    const char *text = arena_copy(request->arena, buffer_text(&json));
    buffer_free(&json);
    return text;
}

bool member_act(const struct services *services, const struct request *request,
                struct response *response, const struct member_call *call, const char *action,
                struct redis_command *command, enum outcome *outcome)
{
    if (!operator_store_answered(services, request, response,
                                 audit_store_note(services->postgres, request->arena,
                                                  &call->operator.author, action, call->operator.id,
                                                  details_of(request, call->member)))) {
        return false;
    }
    *outcome = outcome_of(redis_call(services->redis, request->arena, command));
    operator_log_change("member.acted", &call->operator, action);
    return true;
}

void member_refuse(const struct services *services, const struct request *request,
                   struct response *response, const struct member_call *call, enum outcome outcome)
{
    if (outcome == OUTCOME_NOT_FOUND) {
        queue_answer_unknown(services, request, response, call->operator.id);
    } else {
        problem_answer_outcome(request, response, outcome);
    }
}

static void add_int(json_object *object, const char *name, int64_t value, bool known)
{
    json_object_object_add(object, name, known ? json_object_new_int64(value) : NULL);
}

static json_object *place_json(const struct member_call *call, const struct member_place *place,
                               const char *why)
{
    json_object *answer = json_object_new_object();
    bool has_number = place->seq > 0;

    json_object_object_add(answer, "queue", text_json(call->operator.id));
    json_object_object_add(answer, "member", text_json(call->member));
    json_object_object_add(answer, "queueState", text_json(place->queue_state));
    json_object_object_add(answer, "standing", text_json(place->kind));
    add_int(answer, "seq", place->seq, has_number);
    add_int(answer, "generation", place->generation, has_number);
    add_int(answer, "rank", place->rank, place->rank >= 0);
    json_object_object_add(answer, "endsAt", place->ends_ms > 0 ? time_json(place->ends_ms) : NULL);
    json_object_object_add(answer, "hasSeenToken", json_object_new_boolean(place->has_seen_token));
    json_object_object_add(answer, "unpaidOrder",
                           place->unpaid_order.n > 0 ? text_json(place->unpaid_order) : NULL);
    json_object_object_add(answer, "why", json_object_new_string(why));
    json_object_object_add(answer, "serverTime", time_json(place->now_ms));
    return answer;
}

void member_answer(const struct services *services, const struct request *request,
                   struct response *response, const struct member_call *call)
{
    struct member_place place;
    enum outcome outcome =
        member_read_place(redis_call(services->redis, request->arena,
                                     member_find(request->arena, call->operator.id, call->member)),
                          &place);

    if (outcome != OUTCOME_OK) {
        member_refuse(services, request, response, call, outcome);
        return;
    }
    json_object *answer =
        place_json(call, &place, member_why(services, request, call->operator.id, &place));
    response_json_object(response, 200, answer);
    (void)json_object_put(answer);
}
