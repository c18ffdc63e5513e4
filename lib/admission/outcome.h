/*
 * outcome — the result of a transition of the admission protocol: one value for each word that the
 * scripts of lua/ reply with.
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

/** The outcome word at the start of a reply; ADMISSION_UNAVAILABLE for NULL, an error, or an
 *  unknown word. */
enum outcome outcome_of(const redisReply *reply);

/** The word, e.g. "QUEUE_FULL". */
const char *outcome_word(enum outcome outcome);

#endif
