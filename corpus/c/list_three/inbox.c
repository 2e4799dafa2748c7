#include "inbox.h"

#include <stddef.h>

#include "../../work.h"

enum { INDEX_ROUNDS = 600 };

void inbox_init(struct inbox *inbox)
{
    pthread_mutex_init(&inbox->lock, NULL);
    inbox->count = 0;
    inbox->head = NULL;
    inbox->tail = NULL;
}

static void index_message(struct message *message)
{
    message->number ^= compute(message->number, INDEX_ROUNDS);
}

static void link_message(struct inbox *inbox, struct message *message)
{
    message->next = NULL;
    inbox->count++;                                     /* truth:A1 */
    if (inbox->head == NULL)
        inbox->head = message;                          /* truth:B1 */
    index_message(message);
    if (inbox->tail != NULL)
        inbox->tail->next = message;
    inbox->tail = message;                              /* truth:C1 */
}

void inbox_append(struct inbox *inbox, struct message *message)
{
    pthread_mutex_lock(&inbox->lock);
    link_message(inbox, message);
    pthread_mutex_unlock(&inbox->lock);
}

static struct summary summarize(const struct inbox *inbox)
{
    struct summary summary;

    summary.count = inbox->count;                       /* truth:A2 */
    summary.oldest = inbox->head;                       /* truth:B2 */
    summary.newest = inbox->tail;                       /* truth:C2 */
    return summary;
}

struct summary inbox_summary(struct inbox *inbox)
{
#ifdef FIXED
    pthread_mutex_lock(&inbox->lock);
    struct summary summary = summarize(inbox);
    pthread_mutex_unlock(&inbox->lock);
    return summary;
#else
    return summarize(inbox);
#endif
}

bool summary_is_consistent(const struct summary *summary)
{
    bool has_messages = summary->count > 0;

    return has_messages == (summary->oldest != NULL) && has_messages == (summary->newest != NULL);
}
