/*
 * body_reader — reads fields of an operator's JSON body, each with its pointer; a function that
 * finds a fault answers INVALID_REQUEST and returns false.
 */
#ifndef SLUICE_OPERATOR_BODY_READER_H
#define SLUICE_OPERATOR_BODY_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"

struct body_reader {
    const struct request *request;
    struct response *response;
};

/** Answers that the value at `pointer` is wrong, printf style. Returns false. */
bool body_refuse(const struct body_reader *reader, const char *pointer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Refuses fields that are not in `known` (NULL-terminated); `parent` is the pointer to
 *  `object`. */
bool body_only_known(const struct body_reader *reader, json_object *object, const char *parent,
                     const char *const known[]);

/** A string as it is, borrowed from the JSON; empty for anything else. */
struct str body_text(json_object *value);

/** A string of `least` to `most` characters without control characters; line feeds are allowed if
 *  `lines`. */
bool body_read_text(const struct body_reader *reader, json_object *value, const char *pointer,
                    size_t least, size_t most, bool lines, struct str *text);

/** A string of at most `most` characters without control characters, or a whole number, converted
 *  to text; empty if missing. */
bool body_read_label(const struct body_reader *reader, json_object *value, const char *pointer,
                     size_t most, struct str *label);

/** A whole number within [least, most]; if missing, `otherwise`, unless that is below `least`. */
bool body_read_whole(const struct body_reader *reader, json_object *value, const char *pointer,
                     int64_t least, int64_t most, int64_t otherwise, int64_t *number);

/** {"amount": 0..most, "currency": three capital letters}. */
bool body_read_price(const struct body_reader *reader, json_object *value, const char *pointer,
                     int64_t most, int64_t *amount, struct str *currency);

#endif
