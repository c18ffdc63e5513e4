/*
 * log — JSON lines on standard error, one write(2) per line.
 * Every line has ts, level, event, program and pid; within a request also requestId and
 * traceparent. Never log tokens, cookies, tickets or keys.
 *
 *     log_event(LOG_LEVEL_INFO, "order.created",
 *               LOG_FIELDS(LOG_TEXT("queue", q), LOG_INT("amount", n)));
 */
#ifndef SLUICE_BASE_LOG_H
#define SLUICE_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/str.h"

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARNING, LOG_LEVEL_ERROR };

struct log_field {
    const char *name;
    struct str text; /* used when is_text */
    int64_t number;
    bool is_text;
};

/** The fields of a line, as the last two arguments of log_event(). */
#define LOG_FIELDS(...)                                                                            \
    (const struct log_field[]){__VA_ARGS__},                                                       \
        sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field)
#define LOG_STR(field, value)                                                                      \
    {                                                                                              \
        .name = (field), .text = (value), .is_text = true                                          \
    }
#define LOG_TEXT(field, value)                                                                     \
    {                                                                                              \
        .name = (field), .text = str_of(value), .is_text = true                                    \
    }
#define LOG_INT(field, value)                                                                      \
    {                                                                                              \
        .name = (field), .number = (int64_t)(value)                                                \
    }
#define LOG_NO_FIELDS NULL, 0

/** Sets the program name in every line (`program` is borrowed forever). Drops lines below
 *  `level`. */
void log_start(const char *program, enum log_level level);

/** Parses "debug", "info", "warning" or "error"; returns false for anything else. */
bool log_level_parse(struct str text, enum log_level *level);

/** Sets the request that the following lines belong to (borrowed until changed); empty: none. */
void log_set_request(struct str request_id, struct str traceparent);

/** Writes one line. `event` is a stable dotted name for machines to search for. */
void log_event(enum log_level level, const char *event, const struct log_field *fields,
               size_t count);

#endif
