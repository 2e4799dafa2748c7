/* Lock-heavy: two threads book transfers between the accounts of a bank. Every transfer takes the bank's
 * mutex, with some private work in between. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, ACCOUNTS = 64, TRANSFERS = 20000, WORK = 40, OPENING_BALANCE = 1000 };

struct teller {
    int scale;
    unsigned state;
};

static pthread_mutex_t bank = PTHREAD_MUTEX_INITIALIZER;
static long balances[ACCOUNTS];
static unsigned long booked;

static unsigned next_random(struct teller *teller)
{
    for (int i = 0; i < WORK; i++) {
        teller->state ^= teller->state << 13;
        teller->state ^= teller->state >> 17;
        teller->state ^= teller->state << 5;
    }
    return teller->state;
}

static void transfer(unsigned from, unsigned to, long amount)
{
    pthread_mutex_lock(&bank);
    if (balances[from] >= amount) {
        balances[from] -= amount;
        balances[to] += amount;
    }
    booked++;
    pthread_mutex_unlock(&bank);
}

static void *serve(void *argument)
{
    struct teller *teller = argument;

    for (long i = 0; i < (long)teller->scale * TRANSFERS; i++) {
        unsigned random = next_random(teller);
        transfer(random % ACCOUNTS, (random >> 8) % ACCOUNTS, random >> 28);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int scale = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t threads[THREADS];
    struct teller tellers[THREADS];
    long total = 0;

    for (int i = 0; i < ACCOUNTS; i++)
        balances[i] = OPENING_BALANCE;
    for (int i = 0; i < THREADS; i++) {
        tellers[i] = (struct teller){.scale = scale, .state = (unsigned)i + 1};
        pthread_create(&threads[i], NULL, serve, &tellers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < ACCOUNTS; i++)
        total += balances[i];
    printf("%ld %lu\n", total, booked);
    return total == (long)ACCOUNTS * OPENING_BALANCE ? 0 : 1;
}
