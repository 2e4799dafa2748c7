/* Two workers and one item. Each asks whether there is an item before it takes one, and both calls are locked, but
 * not together. Semaphores decide which order comes about, by the number of the run, so that every run's outcome and
 * history are known beforehand.
 *
 *   claims COUNTER EVERY HOW [STALL]
 *
 * COUNTER   a file that counts the runs
 * EVERY     runs whose number is divisible by this fail; 0: none
 * HOW       exit, abort, print (a line on standard output, exit code 0) or hang (deaf to SIGTERM)
 * STALL     the run with this number makes COUNTER.stalled and stays */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int size;
} queue = {1};
static sem_t asked, other_may_go, first_is_done;
static int is_unlucky;
static int is_empty_handed;

static int has_item(void)
{
    pthread_mutex_lock(&lock);
    int size = queue.size; /* ask */
    pthread_mutex_unlock(&lock);
    return size > 0;
}

static void take_item(void)
{
    pthread_mutex_lock(&lock);
    int size = queue.size; /* look */
    if (size > 0)
        queue.size = size - 1; /* take */
    else
        is_empty_handed = 1; /* come back empty-handed */
    pthread_mutex_unlock(&lock);
}

static void *first_worker(void *unused)
{
    if (has_item()) {
        sem_post(&asked);
        sem_wait(&other_may_go);
        take_item();
    }
    sem_post(&first_is_done);
    return unused;
}

static void *second_worker(void *unused)
{
    sem_wait(&asked);
    if (is_unlucky) {
        take_item();
        sem_post(&other_may_go);
    } else {
        sem_post(&other_may_go);
        sem_wait(&first_is_done);
        if (has_item())
            take_item();
    }
    return unused;
}

static int count(const char *path)
{
    char text[16] = "";
    int file = open(path, O_RDWR | O_CREAT, 0644);

    if (file < 0 || flock(file, LOCK_EX) != 0)
        exit(99);
    if (read(file, text, sizeof text - 1) < 0)
        exit(99);
    int number = atoi(text) + 1;
    int length = snprintf(text, sizeof text, "%d\n", number);
    if (pwrite(file, text, (size_t)length, 0) != length)
        exit(99);
    close(file);
    return number;
}

static void stall(const char *counter)
{
    char path[4096];

    snprintf(path, sizeof path, "%s.stalled", counter);
    close(open(path, O_WRONLY | O_CREAT, 0644));
    for (;;)
        pause();
}

static int fail(const char *how)
{
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "print") == 0) {
        puts("came back empty-handed");
        return 0;
    }
    if (strcmp(how, "hang") == 0) {
        signal(SIGTERM, SIG_IGN);
        for (;;)
            pause();
    }
    fputs("came back empty-handed\n", stderr);
    return 1;
}

int main(int argc, char **argv)
{
    pthread_t first, second;

    if (argc < 4)
        return 99;
    int number = count(argv[1]);
    int every = atoi(argv[2]);
    is_unlucky = every > 0 && number % every == 0;
    sem_init(&asked, 0, 0);
    sem_init(&other_may_go, 0, 0);
    sem_init(&first_is_done, 0, 0);
    pthread_create(&first, NULL, first_worker, NULL);
    pthread_create(&second, NULL, second_worker, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    if (argc > 4 && number == atoi(argv[4]))
        stall(argv[1]);
    if (is_empty_handed) /* tell */
        return fail(argv[3]);
    puts("all is well");
    return 0;
}
