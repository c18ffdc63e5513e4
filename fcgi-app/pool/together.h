/*
 * together — questions of the queue pool that come within one turn of its loop and are put to Redis as one: see
 * lib/admission/line_look.h. What a turn costs Redis hardly grows with how many ask.
 */
#ifndef SLUICE_POOL_TOGETHER_H
#define SLUICE_POOL_TOGETHER_H

#include <stdint.h>

#include "lib/admission/line_look.h"
#include "lib/store/redis_line.h"

struct together;

/** Called once the look's state is no longer LINE_LOOK_NEW; its text counts for the call only. Must send nothing. */
typedef void together_done(void *context);

/** Never NULL. */
struct together *together_new(void);

/** Only behind redis_line_free(): by then nothing is in flight. */
void together_free(struct together *together);

/** Takes `look` into what together_send() sends; `done` may be called before this returns: as undecided, while its queue
 *  is not an ordinary one. It must live until then. `now_ms` is monotonic, here and below. */
void together_add(struct together *together, struct line_look *look, together_done *done,
                  void *context, int64_t now_ms);

/** Sends all that was taken in since the last call. */
void together_send(struct together *together, struct redis_line *line, int64_t now_ms);

#endif
