/*
 * l1_folder — the directory of L1, held open. Its content is trusted, and other users may rename
 * its parents: it is therefore checked once, and from then on reached through the descriptor, never
 * again by name.
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
    char path[L1_FOLDER_TEXT]; /* reaches it through fd, even if the name was re-bound */
};

/** Opens `directory`, creating it if missing. Returns false with errno set: ENOTDIR for a link,
 *  EPERM if it is not our user's or others may write to it. */
bool l1_folder_open(struct l1_folder *folder, const char *directory);

/** Whether a directory is open and the name still leads to it. */
bool l1_folder_is_in_place(const struct l1_folder *folder, const char *directory);

/** Harmless if none is open. */
void l1_folder_close(struct l1_folder *folder);

#endif
