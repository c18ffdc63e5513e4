/*
 * report_files — the files of an event's report: text, table, pictures.
 */
#ifndef SLUICE_SLUICECTL_REPORT_FILES_H
#define SLUICE_SLUICECTL_REPORT_FILES_H

#include "sluicectl/invocation.h"
#include "sluicectl/report/report_figures.h"

struct report {
    const char *queue;
    const char *folder;
    int64_t from_s; /* the time range of the report */
    int64_t to_s;
    int64_t step_s;
    json_object *points; /* of the history */
    json_object *stats;  /* of this moment; NULL: the queue no longer exists */
    json_object *goods;  /* what is sold through it; NULL: unknown */
    int64_t sold_out_s;  /* 0: not sold out, as far as can be seen */
    struct report_figures figures;
};

/** Writes all of them into the folder, which is created if necessary. EXIT_CONFIG, with a message,
 *  if that fails. */
enum exit_code report_files_write(const struct invocation *invocation, const struct report *report);

#endif
