/* A sender puts a letter into each of many mailboxes, and a receiver takes them out in the same order. The receiver
 * asks whether the mailbox is full, and if not it waits for the signal. A signal that comes between asking and
 * waiting reaches nobody, and the receiver waits for ever. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

#include "../../background.h"
#include "../../work.h"
#include "mailbox.h"

enum {
    MAILBOXES = 20,
    WRITE_ROUNDS = 9000,
    READ_ROUNDS = 8000,
};

static struct mailbox mailboxes[MAILBOXES];

static void *sender_main(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < MAILBOXES; i++) {
        background_step(i);
        mailbox_send(&mailboxes[i], compute(i, WRITE_ROUNDS + i % 5 * 400));
    }
    return NULL;
}

static void *receiver_main(void *argument)
{
    unsigned *digest = argument;

    for (unsigned i = 0; i < MAILBOXES; i++) {
        *digest ^= mailbox_receive(&mailboxes[i]);
        background_step(i);
        *digest += compute(i, READ_ROUNDS + i % 7 * 400);
    }
    return NULL;
}

int main(void)
{
    pthread_t sender;
    pthread_t receiver;
    unsigned digest = 0;

    for (unsigned i = 0; i < MAILBOXES; i++)
        mailbox_init(&mailboxes[i]);
    pthread_create(&receiver, NULL, receiver_main, &digest);
    pthread_create(&sender, NULL, sender_main, NULL);
    pthread_join(sender, NULL);
    pthread_join(receiver, NULL);
    printf("digest %08x\n", digest);
    return 0;
}
