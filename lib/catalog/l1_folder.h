/*
 * l1_folder — the folder of L1, held open. What is read from there is believed, and others may
 * rename what lies beside it: so it is looked at once, and from then on reached by what is held,
 * never again by its name.
 */
#ifndef SLUICE_CATALOG_L1_FOLDER_H
#define SLUICE_CATALOG_L1_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

enum { L1_FOLDER_TEXT = 32 };

struct l1_folder {
    int fd; /* -1 while there is none */
    dev_t device;
    ino_t inode;
    char path[L1_FOLDER_TEXT]; /* leads to it, whatever its name leads to by now */
};

/** Opens `directory`, and makes it where it is not there. Returns false with errno: ENOTDIR for
 *  a link, EPERM where it is not our user's, or others may write to it. */
bool l1_folder_open(struct l1_folder *folder, const char *directory);

/** Whether there is one, and the name still leads to it. */
bool l1_folder_is_in_place(const struct l1_folder *folder, const char *directory);

void l1_folder_close(struct l1_folder *folder);

#endif
