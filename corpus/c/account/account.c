#include "account.h"

#include <stddef.h>

#include "ledger.h"

void account_open(struct account *account, long balance)
{
    pthread_mutex_init(&account->lock, NULL);
    account->balance = balance;
}

#ifdef FIXED

/* Locks in the order of addresses, so that opposite transfers cannot deadlock. */
void account_transfer(struct account *from, struct account *to, long amount)
{
    struct account *first = from < to ? from : to;
    struct account *second = from < to ? to : from;

    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    from->last_receipt = ledger_post(from, -amount);
    ledger_post(to, amount);
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
}

#else

void account_transfer(struct account *from, struct account *to, long amount)
{
    pthread_mutex_lock(&from->lock);
    from->last_receipt = ledger_post(from, -amount);
    ledger_post(to, amount);
    pthread_mutex_unlock(&from->lock);
}

#endif
