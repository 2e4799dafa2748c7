#include "mailbox.h"

#include <stddef.h>

#include "../../work.h"

enum {
    UNPACK_ROUNDS = 60,
    NAP_ROUNDS = 250,
};

void mailbox_init(struct mailbox *mailbox)
{
    pthread_mutex_init(&mailbox->lock, NULL);
    pthread_cond_init(&mailbox->filled, NULL);
    mailbox->full = false;
    mailbox->letter = 0;
}

void mailbox_send(struct mailbox *mailbox, unsigned letter)
{
    pthread_mutex_lock(&mailbox->lock);
    mailbox->letter = letter;
    mailbox->full = true;                               /* truth:A2 */
    pthread_cond_signal(&mailbox->filled);              /* truth:A3 */
    pthread_mutex_unlock(&mailbox->lock);
}

#ifdef FIXED

static void wait_until_full(struct mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    while (!mailbox->full)
        pthread_cond_wait(&mailbox->filled, &mailbox->lock);
    pthread_mutex_unlock(&mailbox->lock);
}

#else

static bool is_full(struct mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    bool full = mailbox->full;                          /* truth:A1 */
    pthread_mutex_unlock(&mailbox->lock);
    return full;
}

static void wait_for_signal(struct mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    pthread_cond_wait(&mailbox->filled, &mailbox->lock); /* truth:A4 */
    pthread_mutex_unlock(&mailbox->lock);
}

static bool make_comfortable(void)
{
    return compute(1, NAP_ROUNDS) != 0;
}

static void wait_until_full(struct mailbox *mailbox)
{
    if (!is_full(mailbox) && make_comfortable())
        wait_for_signal(mailbox);
}

#endif

unsigned mailbox_receive(struct mailbox *mailbox)
{
    wait_until_full(mailbox);
    pthread_mutex_lock(&mailbox->lock);
    unsigned letter = mailbox->letter;
    pthread_mutex_unlock(&mailbox->lock);
    return compute(letter, UNPACK_ROUNDS);
}
