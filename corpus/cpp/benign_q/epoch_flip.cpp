// Correct: routes that are read without a lock and replaced as a whole. A reader announces the epoch in which it
// reads; the writer frees the old routes only when every reader has left the epoch in which they could be seen.
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "../../verdict.h"
#include "../../work.h"

namespace {

constexpr unsigned kReaders = 2;
constexpr unsigned kLookups = 200;
constexpr unsigned kUpdates = 30;
constexpr unsigned kPorts = 8;
constexpr unsigned kLookupRounds = 1000;
constexpr unsigned kUpdateRounds = 8000;
constexpr unsigned kOutside = 0;
constexpr unsigned kTorn = 0;

// All ports of one version of the routes are made from its number.
struct Routes {
    explicit Routes(unsigned number) : version(number)
    {
        for (unsigned i = 0; i < kPorts; i++)
            ports[i] = number * kPorts + i;
    }

    bool are_whole() const
    {
        for (unsigned i = 0; i < kPorts; i++) {
            if (ports[i] != version * kPorts + i)
                return false;
        }
        return true;
    }

    unsigned version;
    std::array<unsigned, kPorts> ports;
};

class Router {
public:
    ~Router() { delete current_.load(); }

    // Looks at the routes and returns their version, or kTorn if they are not whole.
    unsigned look(unsigned reader)
    {
        readers_[reader].store(epoch_.load());
        const Routes* routes = current_.load();
        unsigned version = routes->are_whole() ? routes->version : kTorn;
        readers_[reader].store(kOutside);
        return version;
    }

    void replace(unsigned version)
    {
        Routes* old = current_.exchange(new Routes(version));
        unsigned next = epoch_.fetch_add(1) + 1;
        for (std::atomic<unsigned>& reader : readers_)
            wait_until_left(reader, next);
        delete old;
    }

private:
    // A reader that came before the flip may still see the old routes.
    static void wait_until_left(const std::atomic<unsigned>& reader, unsigned next)
    {
        for (unsigned seen = reader.load(); seen != kOutside && seen < next; seen = reader.load())
            std::this_thread::yield();
    }

    std::atomic<Routes*> current_{new Routes(1)};
    std::atomic<unsigned> epoch_{1};
    std::array<std::atomic<unsigned>, kReaders> readers_{};
};

struct Reader {
    unsigned digest = 0;
    unsigned wrong = 0;

    void run(Router& router, unsigned number)
    {
        unsigned latest = 1;
        for (unsigned i = 0; i < kLookups; i++) {
            unsigned version = router.look(number);
            if (version == kTorn || version < latest)
                wrong++;
            latest = version;
            digest ^= compute(i, kLookupRounds);
        }
    }
};

}  // namespace

int main()
{
    Router router;
    std::array<Reader, kReaders> readers;
    std::vector<std::thread> threads;
    unsigned digest = 0;
    unsigned wrong = 0;

    for (unsigned i = 0; i < kReaders; i++)
        threads.emplace_back([&router, &readers, i] { readers[i].run(router, i); });
    for (unsigned version = 2; version <= kUpdates; version++) {
        digest = compute(digest + version, kUpdateRounds);
        router.replace(version);
    }
    for (std::thread& thread : threads)
        thread.join();
    for (const Reader& reader : readers)
        wrong += reader.wrong;
    return verdict(wrong == 0 && digest != 0);
}
