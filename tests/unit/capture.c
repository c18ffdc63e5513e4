#include "tests/unit/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CAPTURE_MAX = 64 * 1024 };

static struct {
    int saved;
    FILE *file;
    char text[CAPTURE_MAX];
} captures[3];

void capture_begin(int fd)
{
    (void)fflush(NULL);
    captures[fd].saved = dup(fd);
    captures[fd].file = tmpfile();
    if (captures[fd].saved < 0 || captures[fd].file == NULL ||
        dup2(fileno(captures[fd].file), fd) < 0) {
        perror("capture_begin");
        abort();
    }
}

const char *capture_end(int fd)
{
    (void)fflush(NULL);
    rewind(captures[fd].file);
    size_t length = fread(captures[fd].text, 1, CAPTURE_MAX - 1, captures[fd].file);
    captures[fd].text[length] = '\0';
    if (dup2(captures[fd].saved, fd) < 0 || close(captures[fd].saved) != 0 ||
        fclose(captures[fd].file) != 0) {
        abort();
    }
    return captures[fd].text;
}
