// A log that its writers never wait for: entries hang on a list, which a collector takes away as a whole.
#pragma once

#include <atomic>

struct Entry {
    unsigned number = 0;
    Entry* next = nullptr;
};

class ModuleLog {
public:
    explicit ModuleLog(Entry* first) : head_(first) {}

    void append(Entry* entry);

    // All entries; the log is empty afterwards.
    Entry* swap();

private:
    Entry* link(Entry* entry);

    std::atomic<Entry*> head_;
};
