/* The processes of a system, by slot. A process that has ended is swept out of its slot. */
#ifndef PROCESS_TABLE_H
#define PROCESS_TABLE_H

#include <pthread.h>
#include <stdbool.h>

#include "process.h"

enum { PROCESS_SLOTS = 64 };

struct process_table {
    pthread_mutex_t lock;
    struct process *slots[PROCESS_SLOTS];
};

void process_table_fill(struct process_table *table);

/* Empties a slot and returns the process that was there. */
struct process *process_table_sweep(struct process_table *table, unsigned slot);

/* Charges the process in a slot for the time it used; false if the slot is empty. */
bool process_table_charge(struct process_table *table, unsigned slot, unsigned ticks);

#endif
