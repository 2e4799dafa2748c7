/* The journal of a database: changes are appended until it is closed. */
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

/* Appends a change; false if the journal is being closed. */
bool journal_append(struct journal *journal, unsigned change);

/* No change is accepted any more. */
void journal_begin_close(struct journal *journal);

/* Closes the journal, which nobody uses any more, and returns its checksum. */
unsigned journal_end_close(struct journal *journal);

#endif
