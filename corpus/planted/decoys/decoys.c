/* A lost update, and three patterns that go along with it but make no run fail.
 *
 * The clerk reads the balance, computes, and writes it back; the teller's payment in between is lost. Around that
 * - `visits` is read before the balance and again after it was written, and the teller counts a visit with each payment:
 *   whenever the payment comes in between, so does the visit, most of the time;
 * - `mood` is read twice within, and the teller writes it just after the payment;
 * - `failures` is read and written when the loss is noticed: an effect. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance;
static int visits;
static int mood;
static int failures;
static volatile int sink;

static int read_locked(int *variable)
{
    pthread_mutex_lock(&lock);
    int value = *variable; // truth:R
    pthread_mutex_unlock(&lock);
    return value;
}

static int visits_before(void) { return read_locked(&visits); }
static int visits_after(void) { return read_locked(&visits); }
static int mood_before(void) { return read_locked(&mood); }
static int mood_after(void) { return read_locked(&mood); }
static int balance_read(void) { return read_locked(&balance); }

static void balance_write(int value)
{
    pthread_mutex_lock(&lock);
    balance = value; // truth:W2
    pthread_mutex_unlock(&lock);
}

static void count_visit(void)
{
    pthread_mutex_lock(&lock);
    visits++;
    pthread_mutex_unlock(&lock);
}

static void pay(void)
{
    pthread_mutex_lock(&lock);
    balance += 100; // truth:W1
    pthread_mutex_unlock(&lock);
}

static void cheer_up(void)
{
    pthread_mutex_lock(&lock);
    mood = 1;
    pthread_mutex_unlock(&lock);
}

static void *clerk(void *argument)
{
    int seen = visits_before();
    int value = balance_read();
    int before = mood_before();
    sink += before;
    int after = mood_after();
    balance_write(value + 1);
    sink += seen + after + visits_after();
    return argument;
}

static void *teller(void *argument)
{
    count_visit();
    pay();
    cheer_up();
    return argument;
}

static void *inspector(void *argument)
{
    pthread_mutex_lock(&lock);
    if (balance != 101)
        failures++;
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void)
{
    void *(*duties[])(void *) = {clerk, teller};
    pthread_t threads[2];
    pthread_t last;

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, duties[i], 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    pthread_create(&last, 0, inspector, 0);
    pthread_join(last, 0);
    return failures;
}
