#include "lib/admission/snapshot/snapshot_view.h"

#include "lib/store/redis_reply.h"

enum { FIRST_CHANGE = 19, MARKS = 4, NUMBERS_A_BYTE = 4, BITS_A_NUMBER = 2 };

static const int64_t NUMBER_LAST = (int64_t)1 << 41;

struct redis_command *snapshot_view_command(struct arena *arena, struct str queue, int64_t known)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_SNAPSHOT, queue);

    redis_command_add_int(command, known);
    return command;
}

/* Checks the numbers that are computed with. */
static bool is_plausible(const struct snapshot_view *view)
{
    return view->front >= 0 && view->last >= 0 && view->front <= NUMBER_LAST &&
           view->last <= NUMBER_LAST && view->at_front >= 0 && view->at_front <= NUMBER_LAST &&
           view->before_main >= 0 && view->before_main <= NUMBER_LAST && view->in_main >= 0 &&
           view->waiting >= 0 && view->near >= 0 && view->epoch >= 1 && view->incarnation >= 1 &&
           view->change >= 0 && view->now_ms >= 0;
}

enum outcome snapshot_view_read(const redisReply *reply, struct snapshot_view *view)
{
    enum outcome outcome = outcome_of(reply);

    if (outcome != OUTCOME_OK) {
        return outcome;
    }
    *view = (struct snapshot_view){
        .queue_state = redis_reply_text(reply, 1),
        .waiting = redis_reply_int(reply, 2, -1),
        .in_main = redis_reply_int(reply, 3, -1),
        .last = redis_reply_int(reply, 4, -1),
        .front = redis_reply_int(reply, 5, -1),
        .at_front = redis_reply_int(reply, 6, -1),
        .before_main = redis_reply_int(reply, 7, -1),
        .rate_milli = redis_reply_int(reply, 8, 0),
        .epoch = redis_reply_int(reply, 9, 0),
        .incarnation = redis_reply_int(reply, 10, 0),
        .now_ms = redis_reply_int(reply, 11, -1),
        .on_hold = str_equal(redis_reply_text(reply, 12), STR("hold")),
        .poll_tiers = redis_reply_text(reply, 13),
        .for_visitors = redis_reply_int(reply, 14, 0) == 1,
        .near = redis_reply_int(reply, 15, -1),
        .exact_only = redis_reply_int(reply, 16, 0) == 1,
        .change = redis_reply_int(reply, 17, -1),
        .missing = redis_reply_int(reply, 18, 1) != 0,
        .reply = reply,
        .first_change = FIRST_CHANGE,
    };
    return is_plausible(view) ? OUTCOME_OK : OUTCOME_ADMISSION_UNAVAILABLE;
}

bool snapshot_view_change(const struct snapshot_view *view, size_t element, int64_t *number,
                          enum snapshot_mark *mark)
{
    int64_t change = redis_reply_int(view->reply, element, -1);

    *number = change / MARKS;
    *mark = (enum snapshot_mark)(change % MARKS);
    return change >= 0 && *mark <= SNAPSHOT_ASK && *number <= NUMBER_LAST;
}

struct redis_command *snapshot_marks_command(struct arena *arena, struct str queue, int64_t first,
                                             int64_t count)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_SNAPSHOT_MARKS, queue);

    redis_command_add_int(command, first);
    redis_command_add_int(command, count);
    return command;
}

enum snapshot_mark snapshot_mark_of(struct str marks, size_t i)
{
    if (i / NUMBERS_A_BYTE >= marks.n) {
        return SNAPSHOT_UNMARKED;
    }
    unsigned bits =
        (unsigned char)marks.p[i / NUMBERS_A_BYTE] >> (i % NUMBERS_A_BYTE * BITS_A_NUMBER) &
        (MARKS - 1);
    return bits > SNAPSHOT_ASK ? SNAPSHOT_ASK : (enum snapshot_mark)bits;
}
