#include "ledger.h"

#include "../../work.h"

enum { RECEIPT_ROUNDS = 800 };

static unsigned print_receipt(long balance, long amount)
{
    return compute((unsigned)(balance ^ amount), RECEIPT_ROUNDS);
}

unsigned ledger_post(struct account *account, long amount)
{
    long balance = account->balance;                    /* truth:A1 */
    unsigned receipt = print_receipt(balance, amount);
    account->balance = balance + amount;                /* truth:A2 */
    return receipt;
}
