// A server's modules append an entry to their logs, from the first to the last, while the collector swaps the logs for
// empty ones, from the last to the first. Appending loads the head of the list and stores it later, both atomically
// but not together: after a swap in between, the log holds entries that the collector has already taken.
#include <chrono>
#include <cstdio>
#include <deque>
#include <thread>
#include <vector>

#include "../../background.h"
#include "../../work.h"
#include "module_log.h"

namespace {

constexpr unsigned kModules = 64;
constexpr unsigned kEntriesPerModule = 2;
constexpr unsigned kFormatRounds = 2500;
constexpr unsigned kCollectRounds = 3000;
constexpr unsigned kModulesPerWait = 8;
constexpr std::chrono::microseconds kWaitTime{20};

class Server {
public:
    Server() : entries_(kModules * kEntriesPerModule)
    {
        for (unsigned module = 0; module < kModules; module++)
            logs_.emplace_back(&entries_[module]);
    }

    void write();
    void collect();

    // Entries that were collected or are still in the logs.
    unsigned entries_found();

private:
    static unsigned work_for(unsigned module, unsigned rounds);
    static unsigned count(const Entry* entry);

    std::vector<Entry> entries_;
    std::deque<ModuleLog> logs_;
    unsigned collected_ = 0;
};

unsigned Server::work_for(unsigned module, unsigned rounds)
{
    if (module % kModulesPerWait == 0)
        std::this_thread::sleep_for(kWaitTime);
    background_step(module);
    return compute(module, rounds);
}

unsigned Server::count(const Entry* entry)
{
    unsigned entries = 0;
    for (; entry; entry = entry->next)
        entries++;
    return entries;
}

void Server::write()
{
    for (unsigned module = 0; module < kModules; module++) {
        Entry& entry = entries_[kModules + module];
        entry.number = work_for(module, kFormatRounds);
        logs_[module].append(&entry);
    }
}

void Server::collect()
{
    unsigned digest = 0;
    for (unsigned module = kModules; module-- > 0;) {
        digest ^= work_for(module, kCollectRounds);
        collected_ += count(logs_[module].swap());
    }
    std::printf("collected %08x\n", digest);
}

unsigned Server::entries_found()
{
    unsigned left = 0;
    for (ModuleLog& log : logs_)
        left += count(log.swap());
    return collected_ + left;
}

}  // namespace

int main()
{
    Server server;

    std::thread modules([&server] { server.write(); });
    std::thread collector([&server] { server.collect(); });
    modules.join();
    collector.join();

    unsigned found = server.entries_found();
    if (found != kModules * kEntriesPerModule) {
        std::fprintf(stderr, "%u entries written, %u found\n", kModules * kEntriesPerModule, found);
        return 1;
    }
    return 0;
}
