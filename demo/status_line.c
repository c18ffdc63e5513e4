#include "demo/status_line.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool standing;

/* Bytes of `text` that fit into `columns`; a UTF-8 character takes one column and is never cut. */
static int cut(const char *text, int columns)
{
    int bytes = 0;

    while (text[bytes] != '\0') {
        bool begins = ((unsigned char)text[bytes] & 0xC0) != 0x80;
        if (begins && columns-- == 0) {
            break;
        }
        bytes++;
    }
    return bytes;
}

void status_line_show(const char *text)
{
    if (isatty(STDOUT_FILENO) == 1) {
        struct winsize size = {.ws_col = 0};
        (void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
        int columns = size.ws_col > 1 ? size.ws_col - 1 : 79;
        (void)printf("\r\033[K%.*s", cut(text, columns), text);
        standing = true;
    } else {
        (void)printf("%s\n", text);
    }
    (void)fflush(stdout);
    clearerr(stdout);
}

void status_line_end(void)
{
    if (standing) {
        (void)printf("\n");
        standing = false;
    }
}
