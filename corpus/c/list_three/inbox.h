/* A list of messages, with what a mail program shows of it. */
#ifndef INBOX_H
#define INBOX_H

#include <pthread.h>
#include <stdbool.h>

struct message {
    struct message *next;
    unsigned number;
};

struct inbox {
    pthread_mutex_t lock;
    unsigned count;
    struct message *head;
    struct message *tail;
};

/* What an inbox held at one moment. */
struct summary {
    unsigned count;
    const struct message *oldest;
    const struct message *newest;
};

void inbox_init(struct inbox *inbox);
void inbox_append(struct inbox *inbox, struct message *message);
struct summary inbox_summary(struct inbox *inbox);

/* An inbox has an oldest and a newest message exactly if it has messages at all. */
bool summary_is_consistent(const struct summary *summary);

#endif
