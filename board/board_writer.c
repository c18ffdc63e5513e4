#include "board/board_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "board/board_file.h"
#include "board/origin_load.h"
#include "board/queue_figures.h"
#include "board/snapshot_rounds.h"
#include "lib/admission/line/line.h"
#include "lib/admission/line/line_state_json.h"
#include "lib/admission/line/promotion.h"
#include "lib/base/clock.h"
#include "lib/base/digest.h"
#include "lib/base/identifier.h"
#include "lib/base/log.h"
#include "lib/base/random.h"
#include "lib/metrics/metrics.h"
#include "lib/store/redis.h"
#include "lib/store/redis_outage.h"
#include "lib/store/redis_reply.h"

enum {
    REFRESH_MS = 1000, /* serverTime is updated at least this often */
    STALE_MS = 2000,   /* a board unconfirmed for so long is removed */
    RETRY_MS = 200,    /* while Redis cannot be reached */
    PATIENCE_MS = 300, /* time-out for one reply of Redis: a stop must not wait longer */
    STEP_MS = 100,     /* between two checks for a stop signal */
    DOCUMENT_MAX = 8 * 1024 * 1024
};

struct board {
    char id[SLUG_MAX + 1];
    char digest[SHA256_TEXT + 1]; /* of the last document written, without serverTime */
    int64_t written;              /* monotonic ms, as all times here */
    int64_t confirmed;            /* when the file was last known to be current */
    bool there;                   /* the file exists, as far as we know */
    bool failing;                 /* it could not be confirmed at the last attempt */
    bool found;                   /* by the current discovery */
};

struct board_writer {
    const struct settings *settings;
    struct redis *redis;
    struct arena *arena;
    struct queue_figures *figures;
    struct snapshot_rounds *snapshots;
    struct origin_load *origin; /* NULL: the load of sites is not measured */
    bool figures_too;           /* this pass reads them, and nothing has failed so far */
    struct buffer document;
    char name[RANDOM_ID_TEXT + 1];
    struct board *boards;
    size_t count;
    size_t next_board; /* of the current pass; count: the pass is over */
    int64_t next_pass;
    int64_t pass_wall_ms; /* the modification time of this pass's files */
    bool redis_answers;
    bool can_write;
};

static struct board *find_or_add(struct board_writer *writer, struct str id)
{
    for (size_t i = 0; i < writer->count; i++) {
        if (str_equal(str_of(writer->boards[i].id), id)) {
            return &writer->boards[i];
        }
    }
    struct board *boards = realloc(writer->boards, (writer->count + 1) * sizeof(*boards));
    if (boards == NULL) {
        abort();
    }
    writer->boards = boards;
    struct board *board = &boards[writer->count++];
    *board = (struct board){.confirmed = clock_monotonic_ms()};
    str_copy(id, board->id, sizeof(board->id));
    return board;
}

/* A file of an earlier run counts as current at first: it is then confirmed or removed like any
 * other. */
static void adopt_file(void *context, struct str queue)
{
    find_or_add(context, queue)->there = true;
}

static struct origin_load *open_origin(const char *path)
{
    struct origin_load *origin = path[0] == '\0' ? NULL : origin_load_open(path);

    if (origin == NULL && path[0] != '\0') {
        log_event(LOG_LEVEL_WARNING, "board.cannot_listen",
                  LOG_FIELDS(LOG_TEXT("socket", path), LOG_TEXT("why", strerror(errno))));
    }
    return origin;
}

struct board_writer *board_writer_new(const struct settings *settings)
{
    struct board_writer *writer = calloc(1, sizeof(*writer));
    int64_t patience = settings->redis_timeout_ms;

    if (writer == NULL) {
        abort();
    }
    writer->settings = settings;
    writer->redis = redis_new(settings, patience < PATIENCE_MS ? patience : PATIENCE_MS);
    writer->arena = arena_new();
    writer->figures = queue_figures_new();
    writer->snapshots = snapshot_rounds_new(settings);
    writer->origin = open_origin(settings->origin_socket);
    writer->redis_answers = true;
    writer->can_write = true;
    buffer_init(&writer->document, DOCUMENT_MAX);
    random_id(writer->name);
    board_file_list(writer->arena, settings->board_directory, adopt_file, writer);
    writer->next_board = writer->count;
    arena_reset(writer->arena);
    return writer;
}

void board_writer_free(struct board_writer *writer)
{
    redis_free(writer->redis);
    arena_free(writer->arena);
    queue_figures_free(writer->figures);
    snapshot_rounds_free(writer->snapshots);
    origin_load_close(writer->origin);
    buffer_free(&writer->document);
    free(writer->boards);
    free(writer);
}

/* Logs once that the directory cannot be written, and once that it can. `error` is an errno. */
static void note_writing(struct board_writer *writer, bool works, int error)
{
    if (works == writer->can_write) {
        return;
    }
    writer->can_write = works;
    if (works) {
        log_event(LOG_LEVEL_INFO, "board.writable", LOG_NO_FIELDS);
    } else {
        log_event(LOG_LEVEL_ERROR, "board.unwritable",
                  LOG_FIELDS(LOG_TEXT("directory", writer->settings->board_directory),
                             LOG_TEXT("error", strerror(error))));
    }
}

static void withdraw(struct board_writer *writer, struct board *board, const char *reason)
{
    if (!board->there) {
        return;
    }
    if (!board_file_remove(writer->arena, writer->settings->board_directory, board->id)) {
        note_writing(writer, false, errno);
        return;
    }
    board->there = false;
    log_event(LOG_LEVEL_INFO, "board.withdrawn",
              LOG_FIELDS(LOG_TEXT("queue", board->id), LOG_TEXT("reason", reason)));
}

/* The ids of all queues. NULL if Redis does not answer: then no board can be confirmed. */
static const redisReply *ask_for_queues(struct board_writer *writer)
{
    const redisReply *ids = promotion_queues(writer->redis, writer->arena);

    redis_outage_note(writer->redis, &writer->redis_answers, ids != NULL);
    for (size_t i = 0; i < writer->count && ids == NULL; i++) {
        writer->boards[i].failing = true;
    }
    return ids;
}

/* Reads which queues exist. Returns false if Redis does not answer: what is known is kept. */
static bool discover(struct board_writer *writer)
{
    const redisReply *ids = ask_for_queues(writer);

    if (ids == NULL) {
        return false;
    }
    for (size_t i = 0; i < writer->count; i++) {
        writer->boards[i].found = false;
    }
    for (size_t i = 0; i < ids->elements; i++) {
        struct str id = redis_reply_text(ids, i);
        if (identifier_is_slug(id)) {
            find_or_add(writer, id)->found = true;
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < writer->count; i++) {
        if (!writer->boards[i].found) {
            withdraw(writer, &writer->boards[i], "no such queue");
        }
        if (writer->boards[i].found || writer->boards[i].there) {
            writer->boards[kept++] = writer->boards[i];
        }
    }
    writer->count = kept;
    return true;
}

static void begin_pass(struct board_writer *writer)
{
    int64_t now = clock_monotonic_ms();
    bool answered = discover(writer);

    writer->figures_too = answered && queue_figures_are_due(writer->figures, now);
    if (writer->figures_too) {
        queue_figures_begin(writer->figures, now);
    }
    writer->pass_wall_ms = clock_wall_ms();
    writer->next_pass = now + (answered ? writer->settings->board_interval_ms : RETRY_MS);
    writer->next_board = answered ? 0 : writer->count;
}

/* Writes `state` into the file if anything has changed or serverTime is due for an update. */
static void publish(struct board_writer *writer, struct board *board, struct line_state *state)
{
    struct buffer *document = &writer->document;
    struct str id = str_of(board->id);
    int64_t server_time = state->now_ms;
    int64_t now = clock_monotonic_ms();
    char digest[SHA256_TEXT + 1];

    state->now_ms = -1;
    buffer_clear(document);
    line_state_json(document, writer->arena, id, state);
    sha256_text(buffer_text(document), digest);
    bool same = board->there && str_equal(str_of(digest), str_of(board->digest));
    /* The pass nearest to the second: the next one would be later than this one is early. */
    if (!same || now - board->written >= REFRESH_MS - writer->settings->board_interval_ms / 2) {
        state->now_ms = server_time;
        buffer_clear(document);
        line_state_json(document, writer->arena, id, state);
        bool done = board_file_write(writer->arena, writer->settings->board_directory, writer->name,
                                     board->id, document, writer->pass_wall_ms);
        note_writing(writer, done, errno);
        board->failing = !done;
        if (!done) {
            return;
        }
        if (!board->there) {
            log_event(LOG_LEVEL_INFO, "board.published", LOG_FIELDS(LOG_TEXT("queue", board->id)));
        }
        str_copy(str_of(digest), board->digest, sizeof(board->digest));
        board->written = now;
        board->there = true;
    }
    board->failing = false;
    board->confirmed = now;
}

/* Returns false if Redis does not answer. */
static bool refresh(struct board_writer *writer, struct board *board)
{
    struct line_state state;
    const redisReply *reply =
        redis_call(writer->redis, writer->arena, line_state(writer->arena, str_of(board->id)));
    enum outcome outcome = line_read_state(reply, &state);

    if (outcome == OUTCOME_OK) {
        snapshot_rounds_see(writer->snapshots, str_of(board->id), state.waiting);
        publish(writer, board, &state);
    } else if (outcome == OUTCOME_NOT_FOUND) {
        withdraw(writer, board, "no such queue");
    } else {
        board->failing = true;
        return false;
    }
    return !writer->figures_too ||
           queue_figures_read(writer->figures, writer->redis, writer->arena, str_of(board->id));
}

/* Exports this host's metrics of the boards, and of the queues once all of them were read. */
static void end_pass(struct board_writer *writer)
{
    int64_t unconfirmed = 0;

    for (size_t i = 0; i < writer->count; i++) {
        unconfirmed += writer->boards[i].failing ? 1 : 0;
    }
    metrics_set(METRIC_BOARDS_UNCONFIRMED, unconfirmed);
    if (writer->figures_too) {
        queue_figures_end(writer->figures);
        writer->figures_too = false;
    }
}

static void withdraw_stale(struct board_writer *writer)
{
    int64_t now = clock_monotonic_ms();

    for (size_t i = 0; i < writer->count; i++) {
        struct board *board = &writer->boards[i];
        if (board->failing && now - board->confirmed > STALE_MS) {
            withdraw(writer, board, "unconfirmed");
        }
    }
}

int64_t board_writer_step(struct board_writer *writer)
{
    int64_t step_ends = clock_monotonic_ms() + STEP_MS;

    int64_t until_snapshots =
        writer->redis_answers
            ? snapshot_rounds_step(writer->snapshots, writer->redis, writer->arena)
            : RETRY_MS;
    if (writer->next_board == writer->count && clock_monotonic_ms() >= writer->next_pass) {
        begin_pass(writer);
    }
    while (writer->next_board < writer->count && clock_monotonic_ms() < step_ends) {
        /* If Redis fails for all queues, the others would each run into the same time-out. */
        if (!refresh(writer, &writer->boards[writer->next_board++])) {
            writer->figures_too = false;
            if (ask_for_queues(writer) == NULL) {
                writer->next_board = writer->count;
                writer->next_pass = clock_monotonic_ms() + RETRY_MS;
            }
        }
    }
    withdraw_stale(writer);
    if (writer->origin != NULL && writer->redis_answers) {
        origin_load_report(writer->origin, writer->redis, writer->arena, clock_monotonic_ms());
    }
    metrics_set_now(METRIC_SEEN_BOARD);
    if (writer->next_board == writer->count) {
        end_pass(writer);
    }
    arena_reset(writer->arena);
    if (writer->next_board < writer->count) {
        return 0;
    }
    int64_t wait = writer->next_pass - clock_monotonic_ms();
    wait = wait < until_snapshots ? wait : until_snapshots;
    return wait > 0 ? wait : 0;
}

void board_writer_clear(struct board_writer *writer)
{
    for (size_t i = 0; i < writer->count; i++) {
        withdraw(writer, &writer->boards[i], "ended");
    }
    arena_reset(writer->arena);
}
