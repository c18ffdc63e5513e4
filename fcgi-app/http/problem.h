/*
 * problem — the error table (errors.tbl) and its wire form, RFC 9457 problem+json.
 */
#ifndef SLUICE_HTTP_PROBLEM_H
#define SLUICE_HTTP_PROBLEM_H

#include <stdint.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "lib/admission/outcome.h"
#include "lib/metrics/metrics.h"

enum problem {
#define ERROR(code, status, title, retry_after, advice) PROBLEM_##code,
#include "fcgi-app/http/errors.tbl"
#undef ERROR
    PROBLEM_COUNT
};

/** A row of the table. */
struct problem_row {
    struct str code;
    int status;
    struct str title;
    int retry_after;
    struct str advice;
};

/* Clients refused by an outage or a crowd must not come back together: Retry-After of 429 and 503
 * is uniformly distributed between the table's seconds and this many times as much. nginx' own
 * answers do the same, see nginx/snippets/retry.conf.in. */
enum { PROBLEM_SPREAD = 3 };

/** A random time from `least_ms` to PROBLEM_SPREAD times as much, for an answer that names its own
 *  time to come back. */
int64_t problem_spread_ms(int64_t least_ms);

/** Answers with `problem`: status, problem+json with type, title, status, detail, instance, code,
 *  Cache-Control: no-store, and Retry-After if the table gives one. `detail` is a sentence for the
 *  reader, printf style. Replaces whatever was in the response. */
void problem_answer(const struct request *request, struct response *response, enum problem problem,
                    const char *detail, ...) __attribute__((format(printf, 4, 5)));

/** INVALID_REQUEST that names the JSON pointer (RFC 6901) at fault, as `pointer`. */
void problem_answer_at(const struct request *request, struct response *response,
                       const char *pointer, const char *detail, ...)
    __attribute__((format(printf, 4, 5)));

/** Records that the answer reports `problem` in its own form, such as a page, and with its own
 *  status. */
void problem_report(struct response *response, enum problem problem);

/** The class of the answer for metrics and logs: that of the problem which it reports, or of its
 *  status. WAITING and QUEUE_FULL are what the system is for, and no errors. */
enum metric_class problem_class(const struct response *response);

/** Adds a member to the last problem answered, e.g. "taken": `json` is JSON text. */
void problem_add(struct response *response, const char *name, struct str json);

/** Answers the problem of the same name as a refusal of the admission protocol, with the table's
 *  advice as detail; ADMISSION_UNAVAILABLE for an outcome that is no refusal. */
void problem_answer_outcome(const struct request *request, struct response *response,
                            enum outcome outcome);

#endif
