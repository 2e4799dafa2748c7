/* A download that can be interrupted: how far its segment has come, and how many bytes were written in all. */
#ifndef DOWNLOAD_H
#define DOWNLOAD_H

#include <pthread.h>
#include <stdbool.h>

struct download {
    pthread_mutex_t lock;
    unsigned offset;
    unsigned written;
    unsigned checksum;
};

/* What is kept of a download to resume it later. */
struct saved_state {
    unsigned offset;
    unsigned written;
};

void download_init(struct download *download);

/* The next bytes have arrived. */
void download_receive(struct download *download, unsigned bytes);

struct saved_state download_save(struct download *download);

/* Whether a download can go on from here. */
bool state_is_consistent(const struct saved_state *state);

#endif
