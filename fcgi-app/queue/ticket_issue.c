#include "fcgi-app/queue/ticket_issue.h"

#include "lib/admission/snapshot/snapshot.h"
#include "lib/base/clock.h"
#include "lib/identity/queue_ticket.h"

struct str ticket_issue(const struct services *services, const struct request *request,
                        const struct line_caller *caller, const struct line_position *position)
{
    int64_t now_s = clock_wall_ms() / 1000;
    const struct queue_ticket ticket = {
        .subject = caller->member,
        .queue = caller->queue,
        .lane = position->lane.n > 0 ? position->lane : STR(QUEUE_TICKET_LANE_DEFAULT),
        .epoch = position->epoch,
        .seq = position->seq,
        .generation = position->generation,
        .incarnation = position->incarnation,
        .issued_at_s = now_s,
        .expires_at_s = now_s + services->settings->queue_ticket_ttl_seconds,
    };
    char *text = arena_alloc(request->arena, QUEUE_TICKET_TEXT + 1);

    if (position->generation > 0) {
        snapshot_doubt(services->snapshot, caller->queue, position->seq);
    }

    return str_sized(text, queue_ticket_sign(services->ticket_keys, &ticket, text));
}
