#include "lib/base/log.h"

#include <unistd.h>

#include "lib/base/buffer.h"
#include "lib/base/clock.h"

enum { LINE_MAX_BYTES = 16 * 1024 };

static struct {
    const char *program;
    int pid; /* 0: not read yet */
    enum log_level level;
    struct str request_id;
    struct str traceparent;
} logger = {.program = "sluice", .level = LOG_LEVEL_INFO};

static const char *const LEVEL_NAMES[] = {"debug", "info", "warning", "error"};

void log_start(const char *program, enum log_level level)
{
    logger.program = program;
    logger.pid = (int)getpid();
    logger.level = level;
}

bool log_level_parse(struct str text, enum log_level *level)
{
    for (size_t i = 0; i < sizeof(LEVEL_NAMES) / sizeof(LEVEL_NAMES[0]); i++) {
        if (str_equal(text, str_of(LEVEL_NAMES[i]))) {
            *level = (enum log_level)i;
            return true;
        }
    }
    return false;
}

void log_set_request(struct str request_id, struct str traceparent)
{
    logger.request_id = request_id;
    logger.traceparent = traceparent;
}

static void add_name(struct buffer *line, const char *name)
{
    buffer_add(line, STR(",\""));
    buffer_add(line, str_of(name));
    buffer_add(line, STR("\":"));
}

static void add_text(struct buffer *line, const char *name, struct str text)
{
    add_name(line, name);
    buffer_add_json_string(line, text);
}

/* Written piece by piece: a line is logged for each order, and a format string took longer than
 * all the rest of it. */
static void add_head(struct buffer *line, const char *now, enum log_level level, const char *event)
{
    const struct str pieces[] = {
        STR("{\"ts\":\""),      str_of(now),   STR("\",\"level\":\""),   str_of(LEVEL_NAMES[level]),
        STR("\",\"event\":\""), str_of(event), STR("\",\"program\":\""), str_of(logger.program),
        STR("\",\"pid\":"),
    };

    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        buffer_add(line, pieces[i]);
    }
    buffer_add_int(line, logger.pid);
}

void log_event(enum log_level level, const char *event, const struct log_field *fields,
               size_t count)
{
    struct buffer line;
    char now[RFC3339_TEXT + 1];

    if (level < logger.level) {
        return;
    }
    if (logger.pid == 0) {
        logger.pid = (int)getpid();
    }
    rfc3339_format(clock_wall_ms(), now);
    buffer_init(&line, LINE_MAX_BYTES);
    add_head(&line, now, level, event);
    if (logger.request_id.n > 0) {
        add_text(&line, "requestId", logger.request_id);
    }
    if (logger.traceparent.n > 0) {
        add_text(&line, "traceparent", logger.traceparent);
    }
    for (size_t i = 0; i < count; i++) {
        if (fields[i].is_text) {
            add_text(&line, fields[i].name, fields[i].text);
        } else {
            add_name(&line, fields[i].name);
            buffer_add_int(&line, fields[i].number);
        }
    }
    buffer_add(&line, STR("}\n"));
    if (buffer_ok(&line) && write(STDERR_FILENO, line.bytes, line.length) < 0) {
        /* There is nowhere left to report it. */
    }
    buffer_free(&line);
}
