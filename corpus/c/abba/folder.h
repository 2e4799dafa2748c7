/* Folders of a file system. To move a file, both folders are locked. */
#ifndef FOLDER_H
#define FOLDER_H

#include <pthread.h>

struct folder {
    pthread_mutex_t lock;
    unsigned files;
};

void folder_init(struct folder *folder, unsigned files);

/* Moves one file. */
void folder_move(struct folder *from, struct folder *to);

#endif
