/* Correct: dining philosophers who take the fork of the lower number first, so that they cannot all wait for each other. */
#include <pthread.h>
#include <stddef.h>

#include "../../verdict.h"
#include "../../work.h"

enum { PHILOSOPHERS = 4, MEALS = 50, THINK_ROUNDS = 3000, EAT_ROUNDS = 1000 };

struct fork {
    pthread_mutex_t lock;
    int in_use;
    long uses;
};

struct philosopher {
    pthread_t thread;
    struct fork *first;
    struct fork *second;
    unsigned thoughts;
    int clashes;
};

static struct fork forks[PHILOSOPHERS];
static pthread_mutex_t bill_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    long meals;
    long longest_streak;
    long streak;
    const struct philosopher *last;
} bill;

static void pick_up(struct philosopher *philosopher, struct fork *fork)
{
    pthread_mutex_lock(&fork->lock);
    if (fork->in_use)
        philosopher->clashes++;
    fork->in_use = 1;
    fork->uses++;
}

static void put_down(struct fork *fork)
{
    fork->in_use = 0;
    pthread_mutex_unlock(&fork->lock);
}

static void note_meal(const struct philosopher *philosopher)
{
    pthread_mutex_lock(&bill_lock);
    bill.meals++;
    bill.streak = bill.last == philosopher ? bill.streak + 1 : 1;
    bill.last = philosopher;
    if (bill.streak > bill.longest_streak)
        bill.longest_streak = bill.streak;
    pthread_mutex_unlock(&bill_lock);
}

static void eat(struct philosopher *philosopher)
{
    pick_up(philosopher, philosopher->first);
    pick_up(philosopher, philosopher->second);
    philosopher->thoughts ^= compute(philosopher->thoughts, EAT_ROUNDS);
    note_meal(philosopher);
    put_down(philosopher->second);
    put_down(philosopher->first);
}

static void *dine(void *argument)
{
    struct philosopher *philosopher = argument;

    for (int meal = 0; meal < MEALS; meal++) {
        philosopher->thoughts = compute(philosopher->thoughts, THINK_ROUNDS);
        eat(philosopher);
    }
    return NULL;
}

int main(void)
{
    struct philosopher table[PHILOSOPHERS] = {{0}};
    int clashes = 0;
    long uses = 0;

    for (int i = 0; i < PHILOSOPHERS; i++)
        pthread_mutex_init(&forks[i].lock, NULL);
    for (int i = 0; i < PHILOSOPHERS; i++) {
        int left = i;
        int right = (i + 1) % PHILOSOPHERS;
        table[i].first = &forks[left < right ? left : right];
        table[i].second = &forks[left < right ? right : left];
        pthread_create(&table[i].thread, NULL, dine, &table[i]);
    }
    for (int i = 0; i < PHILOSOPHERS; i++) {
        pthread_join(table[i].thread, NULL);
        clashes += table[i].clashes;
    }
    for (int i = 0; i < PHILOSOPHERS; i++)
        uses += forks[i].uses;
    return verdict(clashes == 0 && bill.meals == PHILOSOPHERS * MEALS && uses == 2 * bill.meals &&
                   bill.longest_streak >= 1);
}
