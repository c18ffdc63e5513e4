#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/admission/autopilot/autopilot.h"

/* The first word: each format of the text has its own, so that no release misreads another's. */
static const char FORM[] = "a1";

enum { NUMBER_TEXT = 40 };

/* A walk over the fields, in either direction. */
struct walk {
    bool writing;
    bool failed;
    char *out; /* writing: where the next word goes */
    size_t room;
    const char *in; /* reading: the rest, NUL-terminated */
};

static void walk_text(struct walk *walk, const char *word)
{
    int length = snprintf(walk->out, walk->room, " %s", word);

    if (length < 0 || (size_t)length >= walk->room) {
        walk->failed = true;
        return;
    }
    walk->out += length;
    walk->room -= (size_t)length;
}

static void walk_integer(struct walk *walk, int64_t *number)
{
    char word[NUMBER_TEXT];

    if (walk->failed) {
        return;
    }
    if (walk->writing) {
        (void)snprintf(word, sizeof(word), "%" PRId64, *number);
        walk_text(walk, word);
        return;
    }
    char *end;
    long long read = strtoll(walk->in, &end, 10);
    walk->failed = end == walk->in || read < 0;
    walk->in = end;
    *number = read;
}

static void walk_real(struct walk *walk, double *number)
{
    char word[NUMBER_TEXT];

    if (walk->failed) {
        return;
    }
    if (walk->writing) {
        (void)snprintf(word, sizeof(word), "%.9g", *number);
        walk_text(walk, word);
        return;
    }
    char *end;
    double read = strtod(walk->in, &end);
    /* Rejects negative numbers and NaN. */
    walk->failed = end == walk->in || !(read >= 0 && read < 1e15);
    walk->in = end;
    *number = read;
}

static void walk_counts(struct walk *walk, struct load_counts *counts)
{
    for (int i = 0; i < LOAD_BUCKETS; i++) {
        walk_integer(walk, &counts->buckets[i]);
    }
    walk_integer(walk, &counts->errors);
    walk_integer(walk, &counts->timeouts);
    walk_integer(walk, &counts->busy);
}

static void walk_view(struct walk *walk, struct load_view *view)
{
    for (int i = 0; i < LOAD_BUCKETS; i++) {
        walk_real(walk, &view->buckets[i]);
    }
    walk_real(walk, &view->answered);
    walk_real(walk, &view->failed);
    walk_real(walk, &view->late);
}

static void walk_memory(struct walk *walk, struct autopilot_memory *memory)
{
    int64_t *const wholes[] = {&memory->at_ms,    &memory->admitted, &memory->withdrawn,
                               &memory->decided,  &memory->broke_ms, &memory->cut_ms,
                               &memory->silent_ms};
    double *const reals[] = {&memory->rate,
                             &memory->in_force,
                             &memory->usual_ms,
                             &memory->admitted_per_second,
                             &memory->answered_per_second,
                             &memory->decided_view,
                             &memory->withdrawn_view,
                             &memory->broke_at};

    for (size_t i = 0; i < sizeof(wholes) / sizeof(wholes[0]); i++) {
        walk_integer(walk, wholes[i]);
    }
    for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++) {
        walk_real(walk, reals[i]);
    }
    walk_counts(walk, &memory->orders);
    walk_counts(walk, &memory->origin);
    walk_view(walk, &memory->order_view);
    walk_view(walk, &memory->origin_view);
}

void autopilot_memory_write(const struct autopilot_memory *memory, char text[AUTOPILOT_MEMORY_TEXT])
{
    struct autopilot_memory copy = *memory;
    struct walk walk = {.writing = true,
                        .out = text + sizeof(FORM) - 1,
                        .room = AUTOPILOT_MEMORY_TEXT - (sizeof(FORM) - 1)};

    memcpy(text, FORM, sizeof(FORM));
    walk_memory(&walk, &copy);
    if (walk.failed) {
        /* Cannot happen, given the sizes; an empty text makes the memory start over. */
        text[0] = '\0';
    }
}

bool autopilot_memory_read(struct str text, struct autopilot_memory *memory)
{
    char copy[AUTOPILOT_MEMORY_TEXT];
    struct walk walk = {.in = copy + sizeof(FORM) - 1};

    *memory = (struct autopilot_memory){0};
    if (text.n >= sizeof(copy) || !str_starts(text, str_of(FORM))) {
        return false;
    }
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    walk_memory(&walk, memory);
    if (walk.failed || *walk.in != '\0') {
        *memory = (struct autopilot_memory){0};
        return false;
    }
    return true;
}
