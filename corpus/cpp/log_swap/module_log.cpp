#include "module_log.h"

#include "../../work.h"

namespace {

constexpr unsigned kStampRounds = 700;

void stamp(Entry* entry)
{
    entry->number ^= compute(entry->number, kStampRounds) & 0x100u;
}

}  // namespace

Entry* ModuleLog::link(Entry* entry)
{
    Entry* head = head_.load(std::memory_order_acquire);  // truth:A1
    entry->next = head;
    stamp(entry);
    return head;
}

void ModuleLog::append(Entry* entry)
{
#ifdef FIXED
    Entry* head = link(entry);
    while (!head_.compare_exchange_weak(head, entry))
        entry->next = head;
#else
    link(entry);
    head_.store(entry, std::memory_order_release);        // truth:A3
#endif
}

Entry* ModuleLog::swap()
{
    return head_.exchange(nullptr);                       // truth:A2
}
