/* Two tellers work on the same customers: one pays wages out of a payroll account, from the first customer to the
 * last; the other collects fees, from the last to the first. A transfer locks the account that pays but not
 * the one that receives, so where the tellers meet, one of the two updates of a balance can be lost. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "account.h"

enum {
    CUSTOMERS = 64,
    OPENING_BALANCE = 1000,
    WAGE = 70,
    FEE = 11,
    PAPERWORK_ROUNDS = 3000,
    CUSTOMERS_PER_PRINTOUT = 8,
    PRINTER_MICROSECONDS = 20,
};

struct teller {
    pthread_t thread;
    unsigned paperwork;
};

static struct account customers[CUSTOMERS];
static struct account payroll;
static struct account fees;
static pthread_barrier_t opening_time;

static void do_paperwork(struct teller *teller, unsigned customer)
{
    background_step(customer);
    teller->paperwork ^= compute(customer, PAPERWORK_ROUNDS);
    if (customer % CUSTOMERS_PER_PRINTOUT == 0)
        usleep(PRINTER_MICROSECONDS);
}

static void *pay_wages(void *argument)
{
    struct teller *teller = argument;

    pthread_barrier_wait(&opening_time);
    for (unsigned i = 0; i < CUSTOMERS; i++) {
        account_transfer(&payroll, &customers[i], WAGE);
        do_paperwork(teller, i);
    }
    return NULL;
}

static void *collect_fees(void *argument)
{
    struct teller *teller = argument;

    pthread_barrier_wait(&opening_time);
    for (unsigned i = CUSTOMERS; i-- > 0;) {
        account_transfer(&customers[i], &fees, FEE);
        do_paperwork(teller, i);
    }
    return NULL;
}

static void open_accounts(void)
{
    for (unsigned i = 0; i < CUSTOMERS; i++)
        account_open(&customers[i], OPENING_BALANCE);
    account_open(&payroll, OPENING_BALANCE * CUSTOMERS);
    account_open(&fees, 0);
}

static long money_in_the_bank(void)
{
    long total = payroll.balance + fees.balance;

    for (unsigned i = 0; i < CUSTOMERS; i++)
        total += customers[i].balance;
    return total;
}

int main(void)
{
    struct teller payer = {0};
    struct teller collector = {0};

    open_accounts();
    long before = money_in_the_bank();

    pthread_barrier_init(&opening_time, NULL, 2);
    pthread_create(&payer.thread, NULL, pay_wages, &payer);
    pthread_create(&collector.thread, NULL, collect_fees, &collector);
    pthread_join(payer.thread, NULL);
    pthread_join(collector.thread, NULL);

    long after = money_in_the_bank();
    if (after != before) {
        fprintf(stderr, "the bank held %ld and now holds %ld\n", before, after);
        return 1;
    }
    return 0;
}
