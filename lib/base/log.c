#include "lib/base/log.h"

#include <unistd.h>

#include "lib/base/buffer.h"
#include "lib/base/clock.h"

enum { LINE_MAX_BYTES = 16 * 1024 };

static struct {
    const char *program;
    enum log_level level;
    struct str request_id;
    struct str traceparent;
} logger = {.program = "sluice", .level = LOG_LEVEL_INFO};

static const char *const LEVEL_NAMES[] = {"debug", "info", "warning", "error"};

void log_start(const char *program, enum log_level level)
{
    logger.program = program;
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

static void add_text(struct buffer *line, const char *name, struct str text)
{
    buffer_format(line, ",\"%s\":", name);
    buffer_add_json_string(line, text);
}

void log_event(enum log_level level, const char *event, const struct log_field *fields,
               size_t count)
{
    struct buffer line;
    char now[RFC3339_TEXT + 1];

    if (level < logger.level) {
        return;
    }
    rfc3339_format(clock_wall_ms(), now);
    buffer_init(&line, LINE_MAX_BYTES);
    buffer_format(&line,
                  "{\"ts\":\"%s\",\"level\":\"%s\",\"event\":\"%s\",\"program\":\"%s\",\"pid\":%d",
                  now, LEVEL_NAMES[level], event, logger.program, (int)getpid());
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
            buffer_format(&line, ",\"%s\":%lld", fields[i].name, (long long)fields[i].number);
        }
    }
    buffer_add(&line, STR("}\n"));
    if (buffer_ok(&line) && write(STDERR_FILENO, line.bytes, line.length) < 0) {
        /* Nowhere left to say it. */
    }
    buffer_free(&line);
}
