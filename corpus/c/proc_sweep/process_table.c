#include "process_table.h"

#include <stddef.h>

void process_table_fill(struct process_table *table)
{
    pthread_mutex_init(&table->lock, NULL);
    for (unsigned slot = 0; slot < PROCESS_SLOTS; slot++)
        table->slots[slot] = process_new(slot + 1);
}

struct process *process_table_sweep(struct process_table *table, unsigned slot)
{
    pthread_mutex_lock(&table->lock);
    struct process *process = table->slots[slot];
    table->slots[slot] = NULL;                          /* truth:A2 */
    pthread_mutex_unlock(&table->lock);
    return process;
}

static bool is_alive(const struct process_table *table, unsigned slot)
{
    return table->slots[slot] != NULL;                  /* truth:A1 */
}

static void add_ticks(struct process_table *table, unsigned slot, unsigned ticks)
{
    struct process *process = table->slots[slot];       /* truth:A3 */

    process->ticks += ticks;
}

static bool charge(struct process_table *table, unsigned slot, unsigned ticks)
{
    if (!is_alive(table, slot))
        return false;
    add_ticks(table, slot, process_price(ticks));
    return true;
}

bool process_table_charge(struct process_table *table, unsigned slot, unsigned ticks)
{
#ifdef FIXED
    pthread_mutex_lock(&table->lock);
    bool charged = charge(table, slot, ticks);
    pthread_mutex_unlock(&table->lock);
    return charged;
#else
    return charge(table, slot, ticks);
#endif
}
