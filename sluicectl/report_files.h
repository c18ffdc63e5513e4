/*
 * report_files — the files of an event's report: text, table, pictures.
 */
#ifndef SLUICE_SLUICECTL_REPORT_FILES_H
#define SLUICE_SLUICECTL_REPORT_FILES_H

#include "sluicectl/invocation.h"
#include "sluicectl/report_figures.h"

struct report {
    const char *queue;
    const char *folder;
    int64_t from_s; /* the time that was asked for */
    int64_t to_s;
    int64_t step_s;
    json_object *points; /* of the history */
    json_object *stats;  /* of this moment; NULL: the queue is not there any more */
    json_object *goods;  /* what is sold through it; NULL: not known */
    int64_t sold_out_s;  /* 0: it did not, as far as that can be seen */
    struct report_figures figures;
};

/** Writes all of them into the folder, which is made where it is not there. EXIT_CONFIG, and
 *  said why, where that cannot be done. */
enum exit_code report_files_write(const struct invocation *invocation, const struct report *report);

#endif
