// A server fires the timers of its connections, from the first to the last, while the connections are closed, from the last to
// the first: first the timer is cancelled, then its owner goes. A timer that was found to be active just before
// calls an owner that is gone.
#include <cstdio>
#include <deque>
#include <thread>

#include "../../background.h"
#include "../../work.h"
#include "timer.h"

namespace {

constexpr unsigned kConnections = 32;
constexpr unsigned kTickRounds = 3000;
constexpr unsigned kCloseRounds = 3500;

class Connection {
public:
    explicit Connection(unsigned number) : timer_(number, owner_) {}

    bool tick() { return timer_.fire(); }

    void close()
    {
        timer_.cancel();
        owner_.close();
    }

private:
    Owner owner_;
    Timer timer_;
};

class Server {
public:
    Server()
    {
        for (unsigned number = 0; number < kConnections; number++)
            connections_.emplace_back(number);
    }

    // How many calls went to nobody.
    unsigned tick_all();
    unsigned close_all();

private:
    std::deque<Connection> connections_;
};

unsigned Server::tick_all()
{
    unsigned lost = 0;
    unsigned digest = 0;
    for (unsigned number = 0; number < kConnections; number++) {
        background_step(number);
        digest ^= compute(number, kTickRounds);
        lost += connections_[number].tick() ? 0 : 1;
    }
    std::printf("ticks %08x\n", digest);
    return lost;
}

unsigned Server::close_all()
{
    unsigned digest = 0;
    for (unsigned number = kConnections; number-- > 0;) {
        background_step(number);
        digest ^= compute(number, kCloseRounds);
        connections_[number].close();
    }
    return digest;
}

}  // namespace

int main()
{
    Server server;
    unsigned lost = 0;
    unsigned digest = 0;

    std::thread ticks([&] { lost = server.tick_all(); });
    std::thread closing([&] { digest = server.close_all(); });
    ticks.join();
    closing.join();
    std::printf("%u calls to nobody, digest %08x\n", lost, digest);
    return lost > 0 ? 1 : 0;
}
