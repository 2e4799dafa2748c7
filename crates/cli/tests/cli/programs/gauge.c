/* After Figure 4 of the Locon paper. One thread stores both scales of a gauge in a loop, the other reads both once.
 * In three of four schedules, which the runs take in turn, it reads scales that belong together. A first gauge, with
 * the same schedule in every run, sees to it that every run shows every pair of accesses. The argument is a file that
 * counts the runs. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

enum { GAUGES = 2, STEPS = 4 };

static struct gauge {
    int coarse, fine;
} gauges[GAUGES];
/* Not for the compiler to know: it would make a straight line of a short loop. */
static int stores;
static sem_t may_store, has_stored, may_read, has_read;

static void *store(void *unused)
{
    for (int i = 0; i < GAUGES; i++)
        for (int number = 1; number <= stores; number++) {
            sem_wait(&may_store);
            gauges[i].coarse = number; /* store coarse */
            gauges[i].fine = number; /* store fine */
            sem_post(&has_stored);
        }
    return unused;
}

static void *show(void *mixed)
{
    for (int i = 0; i < GAUGES; i++) {
        sem_wait(&may_read);
        int coarse = gauges[i].coarse; /* read coarse */
        sem_post(&has_read);
        sem_wait(&may_read);
        int fine = gauges[i].fine; /* read fine */
        sem_post(&has_read);
        *(int *)mixed += coarse != fine;
    }
    return NULL;
}

static int count(const char *path)
{
    int number = 0;
    FILE *file = fopen(path, "r");

    if (file != NULL) {
        if (fscanf(file, "%d", &number) != 1)
            abort();
        fclose(file);
    }
    file = fopen(path, "w");
    fprintf(file, "%d", number + 1);
    fclose(file);
    return number;
}

int main(int argc, char **argv)
{
    /* s: a store; r: a read. */
    static const char *const schedules[] = { "rrss", "srrs", "ssrr", "rsrs" };
    pthread_t storing, showing;
    int mixed = 0;

    if (argc != 2)
        return 2;
    stores = argc;
    const char *schedule_of[GAUGES] = { schedules[1], schedules[count(argv[1]) % 4] };
    sem_init(&may_store, 0, 0);
    sem_init(&has_stored, 0, 0);
    sem_init(&may_read, 0, 0);
    sem_init(&has_read, 0, 0);
    pthread_create(&storing, NULL, store, NULL);
    pthread_create(&showing, NULL, show, &mixed);
    for (int i = 0; i < GAUGES; i++)
        for (int step = 0; step < STEPS; step++) {
            int is_store = schedule_of[i][step] == 's';
            sem_post(is_store ? &may_store : &may_read);
            sem_wait(is_store ? &has_stored : &has_read);
        }
    pthread_join(storing, NULL);
    pthread_join(showing, NULL);
    return mixed;
}
