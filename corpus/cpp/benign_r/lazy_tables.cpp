// Correct: tables that are made when first needed, in three ways: by std::call_once, by a static in a function, and by a pointer
// that is checked again under the lock.
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "../../verdict.h"
#include "../../work.h"

namespace {

constexpr unsigned kThreads = 3;
constexpr unsigned kTables = 16;
constexpr unsigned kTableSize = 16;
constexpr unsigned kEntryRounds = 100;
constexpr unsigned kUseRounds = 5000;

std::atomic<unsigned> tables_made{0};

struct Table {
    explicit Table(unsigned seed)
    {
        for (unsigned i = 0; i < kTableSize; i++)
            entries[i] = compute(seed + i, kEntryRounds);
        tables_made.fetch_add(1, std::memory_order_relaxed);
    }

    bool is_right(unsigned seed) const
    {
        for (unsigned i = 0; i < kTableSize; i++) {
            if (entries[i] != compute(seed + i, kEntryRounds))
                return false;
        }
        return true;
    }

    std::array<unsigned, kTableSize> entries;
};

class OnceTable {
public:
    const Table& get(unsigned seed)
    {
        std::call_once(once_, [this, seed] { table_ = std::make_unique<Table>(seed); });
        return *table_;
    }

private:
    std::once_flag once_;
    std::unique_ptr<Table> table_;
};

class CheckedTwiceTable {
public:
    ~CheckedTwiceTable() { delete table_.load(); }

    const Table& get(unsigned seed)
    {
        const Table* table = table_.load(std::memory_order_acquire);
        if (table == nullptr) {
            std::lock_guard<std::mutex> guard(mutex_);
            table = table_.load(std::memory_order_relaxed);
            if (table == nullptr) {
                table = new Table(seed);
                table_.store(table, std::memory_order_release);
            }
        }
        return *table;
    }

private:
    std::mutex mutex_;
    std::atomic<const Table*> table_{nullptr};
};

const Table& static_table()
{
    static const Table table(0);
    return table;
}

struct Tables {
    std::array<OnceTable, kTables> once;
    std::array<CheckedTwiceTable, kTables> checked_twice;
};

unsigned use_all(Tables& tables, unsigned thread, std::atomic<unsigned>& wrong)
{
    unsigned digest = 0;
    for (unsigned i = 0; i < kTables; i++) {
        // Neighbouring threads go in opposite directions.
        unsigned seed = thread % 2 == 0 ? i : kTables - 1 - i;
        bool right = tables.once[seed].get(seed).is_right(seed);
        right = tables.checked_twice[seed].get(seed).is_right(seed) && right;
        right = static_table().is_right(0) && right;
        digest = compute(digest + seed, kUseRounds);
        if (!right)
            wrong++;
    }
    return digest;
}

}  // namespace

int main()
{
    Tables tables;
    std::atomic<unsigned> wrong{0};
    std::atomic<unsigned> digest{0};
    std::vector<std::thread> threads;

    for (unsigned i = 0; i < kThreads; i++)
        threads.emplace_back([&tables, &wrong, &digest, i] { digest += use_all(tables, i, wrong); });
    for (std::thread& thread : threads)
        thread.join();
    return verdict(wrong == 0 && tables_made == 2 * kTables + 1);
}
