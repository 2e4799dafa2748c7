/* Accounts with a lock each. */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    long balance;
    unsigned last_receipt;
};

void account_open(struct account *account, long balance);

/* Moves `amount` from one account to another. */
void account_transfer(struct account *from, struct account *to, long amount);

#endif
