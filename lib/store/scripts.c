#include <stddef.h>

#include "lib/store/scripts.h"

#define SCRIPT_ROWS
static const struct script_text TABLE[SCRIPT_COUNT] = {
#include "lua/scripts.gen.h"
};

const struct script_text *script_text(enum script script)
{
    return &TABLE[script];
}
