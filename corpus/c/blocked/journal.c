#include "journal.h"

#include <stddef.h>

#include "../../work.h"

enum { SYNC_ROUNDS = 400 };

void journal_init(struct journal *journal)
{
    pthread_mutex_init(&journal->state_lock, NULL);
    pthread_mutex_init(&journal->lock, NULL);
    journal->closing = false;
    journal->length = 0;
    journal->checksum = 0;
}

static bool is_closing(struct journal *journal)
{
    pthread_mutex_lock(&journal->state_lock);
    bool closing = journal->closing;                    /* truth:B2 */
    pthread_mutex_unlock(&journal->state_lock);
    return closing;
}

static void announce_closing(struct journal *journal)
{
    pthread_mutex_lock(&journal->state_lock);
    journal->closing = true;                            /* truth:B1 */
    pthread_mutex_unlock(&journal->state_lock);
}

static void open_again(struct journal *journal)
{
    pthread_mutex_lock(&journal->state_lock);
    journal->closing = false;
    pthread_mutex_unlock(&journal->state_lock);
}

static void add(struct journal *journal, unsigned change)
{
    journal->length++;
    journal->checksum ^= change;
}

bool journal_append(struct journal *journal, unsigned change)
{
    pthread_mutex_lock(&journal->lock);                 /* truth:A1 */
    if (is_closing(journal)) {
#ifdef FIXED
        pthread_mutex_unlock(&journal->lock);
#endif
        return false;
    }
    add(journal, change);
    pthread_mutex_unlock(&journal->lock);
    return true;
}

static unsigned final_checksum(struct journal *journal)
{
    pthread_mutex_lock(&journal->lock);                 /* truth:A2 */
    unsigned checksum = journal->checksum;
    pthread_mutex_unlock(&journal->lock);
    return checksum;
}

unsigned journal_save(struct journal *journal)
{
    announce_closing(journal);
    unsigned synced = compute(1, SYNC_ROUNDS);
    unsigned checksum = final_checksum(journal) ^ synced;
    open_again(journal);
    return checksum;
}
