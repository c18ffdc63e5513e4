/*
 * outcome — what a transition of the admission protocol came to, one value for each word that the
 * scripts of lua/ answer with.
 */
#ifndef SLUICE_ADMISSION_OUTCOME_H
#define SLUICE_ADMISSION_OUTCOME_H

#include <hiredis/hiredis.h>

enum outcome {
#define OUTCOME(word) OUTCOME_##word,
#include "lib/admission/outcomes.tbl"
#undef OUTCOME
    OUTCOME_COUNT
};

/** The outcome that a reply begins with; ADMISSION_UNAVAILABLE for NULL, an error, or a word
 *  that no script of ours says. */
enum outcome outcome_of(const redisReply *reply);

/** The word itself, e.g. "QUEUE_FULL". */
const char *outcome_word(enum outcome outcome);

#endif
