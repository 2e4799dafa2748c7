/* Changes of balances. */
#ifndef LEDGER_H
#define LEDGER_H

#include "account.h"

/* Adds `amount` to the balance and returns the receipt's number. The caller holds the account's lock. */
unsigned ledger_post(struct account *account, long amount);

#endif
