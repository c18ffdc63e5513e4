/*
 * fuzz — what every fuzzer has: promises, and what it needs from outside of its input.
 *
 * A fuzzer is one file with LLVMFuzzerTestOneInput(), which libFuzzer calls for each input. It ends
 * with a finding where a sanitizer objects, where it takes too long or too much memory, or where a
 * REQUIRE() does not hold.
 */
#ifndef SLUICE_TESTS_FUZZ_H
#define SLUICE_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/identity/key_set.h"

/** Judges one input. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Ends the run with a finding unless `promise` holds. */
#define REQUIRE(promise)                                                                           \
    do {                                                                                           \
        if (!(promise)) {                                                                          \
            fuzz_broken(__FILE__, __LINE__, #promise);                                             \
        }                                                                                          \
    } while (0)

/** Says which promise is broken and aborts. */
_Noreturn void fuzz_broken(const char *file, int line, const char *promise);

/** The arena of this input: what was in it of the input before is gone. Logs are silent from the
 *  first call on. */
struct arena *fuzz_arena(void);

/** The input as text. */
static inline struct str fuzz_text(const uint8_t *data, size_t size)
{
    return str_sized((const char *)data, size);
}

/** Cuts the next line off `rest`, without its end; a copy in `arena` that ends where its memory
 *  ends, so that reading beyond it is noticed. */
struct str fuzz_line(struct arena *arena, struct str *rest);

/** Likewise a whole number, 0 where the line is none. */
int64_t fuzz_number(struct arena *arena, struct str *rest);

/** The path of a file in memory with this content, which only its owner may read. The file is
 *  always the same one: what was in it before is overwritten. */
const char *fuzz_file(struct str content);

/** A ring of the keys "a", which signs, and "b". */
struct key_set *fuzz_keys(void);

/** A value "v1.a.<text>.<signature>" by the key "a", as sluice signs for `purpose`, a line with
 *  its end: whatever the text is, the signature is right. */
struct str fuzz_signed(struct arena *arena, struct str purpose, struct str text);

/** A copy in which one character is another, anywhere: `where` is any number. */
struct str fuzz_changed(struct arena *arena, struct str text, size_t where);

#endif
