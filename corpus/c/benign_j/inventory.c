/* Correct: clerks move goods between the shelves of a table under a write lock, auditors count all of them under a read
 * lock. The total never changes. */
#include <pthread.h>
#include <stddef.h>

#include "../../verdict.h"
#include "../../work.h"

enum { SHELVES = 24, CLERKS = 2, AUDITORS = 2, MOVES = 120, AUDITS = 60, GOODS_PER_SHELF = 10, ROUNDS = 1500 };

static struct {
    pthread_rwlock_t lock;
    int goods[SHELVES];
    long version;
} table = {.lock = PTHREAD_RWLOCK_INITIALIZER};

struct clerk {
    pthread_t thread;
    unsigned dice;
};

struct auditor {
    pthread_t thread;
    unsigned digest;
    int wrong;
};

static void move_goods(int from, int to, int amount)
{
    pthread_rwlock_wrlock(&table.lock);
    if (table.goods[from] >= amount) {
        table.goods[from] -= amount;
        table.goods[to] += amount;
    }
    table.version++;
    pthread_rwlock_unlock(&table.lock);
}

static int count_goods(long *version)
{
    int total = 0;

    pthread_rwlock_rdlock(&table.lock);
    for (int i = 0; i < SHELVES; i++)
        total += table.goods[i];
    *version = table.version;
    pthread_rwlock_unlock(&table.lock);
    return total;
}

static void *clerk_main(void *argument)
{
    struct clerk *clerk = argument;

    for (int i = 0; i < MOVES; i++) {
        clerk->dice = compute(clerk->dice, ROUNDS);
        move_goods((int)(clerk->dice % SHELVES), (int)(clerk->dice / SHELVES % SHELVES), (int)(clerk->dice % 5));
    }
    return NULL;
}

static void *auditor_main(void *argument)
{
    struct auditor *auditor = argument;
    long last_version = 0;

    for (unsigned i = 0; i < AUDITS; i++) {
        long version;
        if (count_goods(&version) != SHELVES * GOODS_PER_SHELF || version < last_version)
            auditor->wrong++;
        last_version = version;
        auditor->digest ^= compute(i, ROUNDS);
    }
    return NULL;
}

int main(void)
{
    struct clerk clerks[CLERKS];
    struct auditor auditors[AUDITORS] = {{0}};
    int wrong = 0;
    long version;

    for (int i = 0; i < SHELVES; i++)
        table.goods[i] = GOODS_PER_SHELF;
    for (int i = 0; i < CLERKS; i++) {
        clerks[i].dice = 17u + (unsigned)i;
        pthread_create(&clerks[i].thread, NULL, clerk_main, &clerks[i]);
    }
    for (int i = 0; i < AUDITORS; i++)
        pthread_create(&auditors[i].thread, NULL, auditor_main, &auditors[i]);
    for (int i = 0; i < CLERKS; i++)
        pthread_join(clerks[i].thread, NULL);
    for (int i = 0; i < AUDITORS; i++) {
        pthread_join(auditors[i].thread, NULL);
        wrong += auditors[i].wrong;
    }
    return verdict(wrong == 0 && count_goods(&version) == SHELVES * GOODS_PER_SHELF && version == CLERKS * MOVES);
}
