/* A mailbox for one letter. */
#ifndef MAILBOX_H
#define MAILBOX_H

#include <pthread.h>
#include <stdbool.h>

struct mailbox {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    bool full;
    unsigned letter;
};

void mailbox_init(struct mailbox *mailbox);
void mailbox_send(struct mailbox *mailbox, unsigned letter);

/* Waits for the letter. */
unsigned mailbox_receive(struct mailbox *mailbox);

#endif
