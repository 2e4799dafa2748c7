// A server ends the statements of its sessions, from the first to the last, while an administrator lists the sessions
// from the last to the first. The list tests whether a session says what it does, and then prints it; a statement that
// ends in between leaves nothing to print.
#include <pthread.h>

#include <chrono>
#include <cstdio>
#include <deque>
#include <string>
#include <thread>

#include "../../background.h"
#include "../../work.h"
#include "session.h"

namespace {

constexpr unsigned kSessions = 64;
constexpr unsigned kCommitRounds = 900;
constexpr unsigned kFormatRounds = 400;
constexpr unsigned kSessionsPerPacket = 8;
constexpr std::chrono::microseconds kNetworkTime{20};

class Server {
public:
    Server()
    {
        for (unsigned id = 0; id < kSessions; id++)
            sessions_.emplace_back(id);
    }

    void end_statements();
    void list_sessions();

private:
    static unsigned work_for(unsigned session, unsigned rounds);

    std::deque<Session> sessions_;
};

pthread_barrier_t start;

unsigned Server::work_for(unsigned session, unsigned rounds)
{
    if (session % kSessionsPerPacket == 0)
        std::this_thread::sleep_for(kNetworkTime);
    background_step(session);
    return compute(session, rounds);
}

void Server::end_statements()
{
    unsigned digest = 0;
    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < kSessions; i++) {
        digest ^= work_for(i, kCommitRounds);
        sessions_[i].finish_statement();
    }
    std::printf("ended %08x\n", digest);
}

void Server::list_sessions()
{
    std::size_t printed = 0;
    pthread_barrier_wait(&start);
    for (unsigned i = kSessions; i-- > 0;) {
        printed += work_for(i, kFormatRounds) % 10;
        printed += sessions_[i].describe().size();
    }
    std::printf("printed %zu\n", printed);
}

}  // namespace

int main()
{
    Server server;

    pthread_barrier_init(&start, nullptr, 2);
    std::thread statements([&server] { server.end_statements(); });
    std::thread list([&server] { server.list_sessions(); });
    statements.join();
    list.join();
    return 0;
}
