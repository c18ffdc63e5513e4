#include "lib/admission/line/line_query.h"

#include "lib/admission/line/line_facts.h"
#include "lib/store/redis_reply.h"

enum { GENERATIONS = 4096 };

/* Indexes of the replies to a transaction of positions; after them the rank of each. */
enum part { PART_PACKED, PART_TIME, PART_STATE, PART_LANES, PART_WAITING, PART_SCORES, PART_RANKS };

/* Indexes of the reply to enter_together; after them three numbers for each query. */
enum entry_part {
    ENTRY_CODE,
    ENTRY_ORDINARY,
    ENTRY_QUEUE_STATE,
    ENTRY_WAITING,
    ENTRY_RATE,
    ENTRY_EPOCH,
    ENTRY_INCARNATION,
    ENTRY_NOW,
    ENTRY_ACTIVATION,
    ENTRY_POLL_TIERS,
    ENTRY_MEMBERS
};
enum { RANK, SEQ, GENERATION, NUMBERS_A_MEMBER };

struct line_query *line_query_new(struct arena *arena, const struct line_caller *caller,
                                  enum line_query_kind kind)
{
    struct line_query *query = arena_alloc(arena, sizeof(*query));

    query->caller = caller;
    query->kind = kind;
    return query;
}

enum outcome line_query_outcome(struct line_query *query, const redisReply *reply)
{
    if (query->state == LINE_QUERY_ASKED) {
        query->outcome = line_read_position(reply, &query->position);
    } else if (query->state != LINE_QUERY_DECIDED) {
        query->outcome = OUTCOME_ADMISSION_UNAVAILABLE;
    }
    return query->outcome;
}

bool line_queries_match(const struct line_query *one, const struct line_query *other)
{
    return one->kind == other->kind &&
           (one->kind == LINE_QUERY_POSITION ||
            one->caller->by_visitor == other->caller->by_visitor) &&
           str_equal(one->caller->queue, other->caller->queue);
}

static struct redis_command *ask_positions(struct arena *arena, struct line_query *const *queries,
                                           size_t count)
{
    struct str queue = queries[0]->caller->queue;
    struct redis_command *command = redis_command_transaction(arena, PART_RANKS + (int)count);

    redis_command_next(command, "HGET");
    redis_command_add_key(command, queue, STR("settings"));
    redis_command_add(command, STR("packed"));
    redis_command_next(command, "TIME");
    redis_command_next(command, "HMGET");
    redis_command_add_key(command, queue, STR("state"));
    for (int i = 0; i < LINE_FACTS_STATE_FIELDS; i++) {
        redis_command_add(command, str_of(LINE_FACTS_STATE[i]));
    }
    redis_command_next(command, "EXISTS");
    redis_command_add_key(command, queue, STR("priority"));
    redis_command_add_key(command, queue, STR("draw"));
    redis_command_add_key(command, queue, STR("drawn"));
    redis_command_next(command, "ZCARD");
    redis_command_add_key(command, queue, STR("waiting"));
    struct str waiting =
        str_sized(command->words[command->count - 1], command->lengths[command->count - 1]);
    redis_command_next(command, "ZMSCORE");
    redis_command_add(command, waiting);
    for (size_t i = 0; i < count; i++) {
        redis_command_add(command, queries[i]->caller->member);
    }
    for (size_t i = 0; i < count; i++) {
        redis_command_next(command, "ZRANK");
        redis_command_add(command, waiting);
        redis_command_add(command, queries[i]->caller->member);
    }
    redis_command_exec(command);
    return command;
}

/* "seq generation epoch incarnation", empty without a ticket. */
static struct str ticket_word(struct arena *arena, const struct line_caller *caller)
{
    const int64_t numbers[] = {caller->seq, caller->generation, caller->epoch, caller->incarnation};
    enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

    if (!caller->has_ticket) {
        return str_sized(NULL, 0);
    }
    char *text = arena_alloc(arena, NUMBERS * (STR_INT64_TEXT + 1) + 1);
    size_t length = 0;
    for (size_t i = 0; i < NUMBERS; i++) {
        length += str_from_int64(numbers[i], text + length);
        text[length++] = ' ';
    }
    return str_sized(text, length - 1);
}

static struct redis_command *ask_entries(struct arena *arena, struct line_query *const *queries,
                                         size_t count)
{
    const struct line_caller *first = queries[0]->caller;
    struct redis_command *command =
        redis_command_script(arena, SCRIPT_ENTER_TOGETHER, first->queue);

    redis_command_add(command, first->by_visitor ? STR("1") : STR("0"));
    for (size_t i = 0; i < count; i++) {
        redis_command_add(command, queries[i]->caller->member);
        redis_command_add(command, ticket_word(arena, queries[i]->caller));
    }
    return command;
}

struct redis_command *line_queries_command(struct arena *arena, struct line_query *const *queries,
                                           size_t count)
{
    return queries[0]->kind == LINE_QUERY_POSITION ? ask_positions(arena, queries, count)
                                                   : ask_entries(arena, queries, count);
}

static bool is_array(const redisReply *reply, size_t elements)
{
    return reply != NULL && reply->type == REDIS_REPLY_ARRAY && reply->elements == elements;
}

/* Reads the queue's state; false if the script has to be called for every query. */
static bool read_facts(const redisReply *reply, size_t count, struct line_facts *facts)
{
    return is_array(reply, PART_RANKS + count) &&
           is_array(reply->element[PART_STATE], LINE_FACTS_STATE_FIELDS) &&
           is_array(reply->element[PART_SCORES], count) &&
           reply->element[PART_LANES]->type == REDIS_REPLY_INTEGER &&
           reply->element[PART_LANES]->integer == 0 &&
           reply->element[PART_WAITING]->type == REDIS_REPLY_INTEGER &&
           line_facts_read(reply->element[PART_TIME], reply->element[PART_PACKED],
                           reply->element[PART_STATE], facts);
}

/* A ticket of an earlier incarnation is as good as a current one if its very place exists,
 * whether Redis kept it or the ticket restored it; the script decides what else it is worth. */
static bool ticket_is_good(const struct line_caller *caller, const struct line_facts *facts,
                           int64_t seq, int64_t generation)
{
    return !caller->has_ticket || (caller->epoch == facts->epoch && caller->seq == seq &&
                                   caller->generation == generation);
}

/* Decides the query of a waiting member without a ticket or with the current one. */
static void read_position(const redisReply *reply, size_t index, const struct line_facts *facts,
                          struct line_query *query)
{
    const redisReply *rank = reply->element[PART_RANKS + index];
    int64_t score;

    if (rank->type != REDIS_REPLY_INTEGER || rank->integer < 0 ||
        !str_to_int64(redis_reply_text(reply->element[PART_SCORES], index), 0, INT64_MAX, &score)) {
        return;
    }
    const struct line_caller *caller = query->caller;
    int64_t seq = score / GENERATIONS;
    int64_t generation = score % GENERATIONS;
    if (!ticket_is_good(caller, facts, seq, generation) ||
        (caller->by_visitor && !str_equal(facts->identity, STR("visitor")))) {
        return;
    }
    query->state = LINE_QUERY_DECIDED;
    query->outcome = OUTCOME_OK;
    query->position = (struct line_position){
        .queue_state = facts->queue_state,
        .status = LINE_WAITING,
        .rank = rank->integer,
        .waiting = reply->element[PART_WAITING]->integer,
        .rate_milli = facts->rate_milli,
        .seq = seq,
        .generation = generation,
        .epoch = facts->epoch,
        .incarnation = facts->incarnation,
        .now_ms = facts->now_ms,
        .on_hold = facts->on_hold,
        .poll_tiers = facts->poll_tiers,
        .lane = STR("main"),
    };
}

static bool read_positions(const redisReply *reply, struct line_query *const *queries, size_t count)
{
    struct line_facts facts;

    if (!read_facts(reply, count, &facts)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        read_position(reply, i, &facts, queries[i]);
    }
    return true;
}

static bool read_entries(const redisReply *reply, struct line_query *const *queries, size_t count)
{
    if (!is_array(reply, ENTRY_MEMBERS + NUMBERS_A_MEMBER * count) ||
        redis_reply_int(reply, ENTRY_ORDINARY, 0) != 1) {
        return false;
    }
    int64_t before = redis_reply_int(reply, ENTRY_WAITING, 0);
    for (size_t i = 0; i < count; i++) {
        size_t at = ENTRY_MEMBERS + NUMBERS_A_MEMBER * i;
        int64_t rank = redis_reply_int(reply, at + RANK, -1);
        if (rank < 0) {
            continue;
        }
        queries[i]->state = LINE_QUERY_DECIDED;
        queries[i]->outcome = rank < before ? OUTCOME_ALREADY : OUTCOME_ENTERED;
        queries[i]->position = (struct line_position){
            .queue_state = redis_reply_text(reply, ENTRY_QUEUE_STATE),
            .status = LINE_WAITING,
            .rank = rank,
            .waiting = rank < before ? before : rank + 1,
            .rate_milli = redis_reply_int(reply, ENTRY_RATE, 0),
            .seq = redis_reply_int(reply, at + SEQ, 0),
            .generation = redis_reply_int(reply, at + GENERATION, 0),
            .epoch = redis_reply_int(reply, ENTRY_EPOCH, 0),
            .incarnation = redis_reply_int(reply, ENTRY_INCARNATION, 0),
            .now_ms = redis_reply_int(reply, ENTRY_NOW, 0),
            .on_hold = str_equal(redis_reply_text(reply, ENTRY_ACTIVATION), STR("hold")),
            .poll_tiers = redis_reply_text(reply, ENTRY_POLL_TIERS),
            .lane = STR("main"),
        };
    }
    return true;
}

bool line_queries_read(const redisReply *reply, struct line_query *const *queries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        queries[i]->state = reply == NULL ? LINE_QUERY_LOST : LINE_QUERY_UNDECIDED;
    }
    if (reply == NULL) {
        return true;
    }
    return queries[0]->kind == LINE_QUERY_POSITION ? read_positions(reply, queries, count)
                                                   : read_entries(reply, queries, count);
}
