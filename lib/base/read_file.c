#include "lib/base/read_file.h"

#include <stdlib.h>
#include <unistd.h>

#include <openssl/crypto.h>

char *read_file(int fd, size_t size)
{
    char *text = calloc(1, size + 1);
    size_t have = 0;

    if (text == NULL) {
        abort();
    }
    while (have < size) {
        ssize_t got = read(fd, text + have, size - have);
        if (got <= 0) {
            OPENSSL_cleanse(text, size);
            free(text);
            return NULL;
        }
        have += (size_t)got;
    }
    return text;
}
