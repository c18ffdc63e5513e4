#include "fcgi-app/queue/seen_queues.h"

#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/identifier.h"

enum { SLOTS = 1024 };

/* One slot a hash value: of two queues that share one, the later is remembered. */
static struct {
    unsigned char length; /* 0: free */
    char name[SLUG_MAX];
} slots[SLOTS];

static size_t slot_of(struct str queue)
{
    return hash_text(queue) % SLOTS;
}

void seen_queues_add(struct str queue)
{
    size_t i = slot_of(queue);

    if (queue.n <= SLUG_MAX) {
        memcpy(slots[i].name, queue.p, queue.n);
        slots[i].length = (unsigned char)queue.n;
    }
}

bool seen_queues_has(struct str queue)
{
    size_t i = slot_of(queue);

    return queue.n > 0 && str_equal(queue, str_sized(slots[i].name, slots[i].length));
}

void seen_queues_remove(struct str queue)
{
    if (seen_queues_has(queue)) {
        slots[slot_of(queue)].length = 0;
    }
}
