/* The journal of a table: changes are appended until it is full, which is when it is saved and begun anew. */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <pthread.h>
#include <stdbool.h>

struct journal {
    pthread_mutex_t state_lock;
    bool closing;
    pthread_mutex_t lock;
    unsigned length;
    unsigned checksum;
};

void journal_init(struct journal *journal);

/* Appends a change; false if the journal is just being saved. */
bool journal_append(struct journal *journal, unsigned change);

/* Saves the journal, which takes no change meanwhile, and returns its checksum. */
unsigned journal_save(struct journal *journal);

#endif
