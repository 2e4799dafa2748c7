// A server keeps what each client has sent in a buffer. A logger appends the buffers to its own, from the last client
// to the first, while the server clears those that it has answered, from the first to the last. Appending asks
// for the length and then for as many characters; a buffer that is cleared in between has fewer.
#include <chrono>
#include <cstdio>
#include <deque>
#include <thread>

#include "../../background.h"
#include "../../work.h"
#include "string_buffer.h"

namespace {

constexpr unsigned kClients = 64;
constexpr unsigned kAnswerRounds = 2500;
constexpr unsigned kLogRounds = 2000;
constexpr unsigned kClientsPerPacket = 8;
constexpr std::chrono::microseconds kNetworkTime{20};

class Server {
public:
    Server()
    {
        for (unsigned client = 0; client < kClients; client++)
            buffers_.emplace_back("GET /" + std::to_string(client));
    }

    void answer_all();
    void log_all();

private:
    static unsigned work_for(unsigned client, unsigned rounds);

    std::deque<StringBuffer> buffers_;
};

unsigned Server::work_for(unsigned client, unsigned rounds)
{
    if (client % kClientsPerPacket == 0)
        std::this_thread::sleep_for(kNetworkTime);
    background_step(client);
    return compute(client, rounds);
}

void Server::answer_all()
{
    unsigned answers = 0;
    for (unsigned client = 0; client < kClients; client++) {
        answers ^= work_for(client, kAnswerRounds);
        buffers_[client].set_length(0);
    }
    std::printf("answers %08x\n", answers);
}

void Server::log_all()
{
    unsigned digest = 0;
    for (unsigned client = kClients; client-- > 0;) {
        digest ^= work_for(client, kLogRounds);
        StringBuffer line("client: ");
        line.append(buffers_[client]);
        digest += static_cast<unsigned>(line.length());
    }
    std::printf("log %08x\n", digest);
}

}  // namespace

int main()
{
    Server server;

    std::thread answers([&server] { server.answer_all(); });
    std::thread log([&server] { server.log_all(); });
    answers.join();
    log.join();
    return 0;
}
