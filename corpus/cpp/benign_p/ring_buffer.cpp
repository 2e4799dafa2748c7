// Correct: a pipeline of three threads, joined by rings for one producer and one consumer each. The slots are plain memory;
// the two counters of a ring say whose they are.
#include <array>
#include <atomic>
#include <cstddef>
#include <thread>

#include "../../verdict.h"
#include "../../work.h"

namespace {

constexpr unsigned kMessages = 200;
constexpr unsigned kStageRounds = 300;
constexpr std::size_t kCapacity = 8;

struct Message {
    unsigned number;
    unsigned payload;
};

class Ring {
public:
    void push(const Message& message)
    {
        std::size_t written = written_.load(std::memory_order_relaxed);
        while (written - read_.load(std::memory_order_acquire) == kCapacity)
            std::this_thread::yield();
        slots_[written % kCapacity] = message;
        written_.store(written + 1, std::memory_order_release);
    }

    Message pop()
    {
        std::size_t read = read_.load(std::memory_order_relaxed);
        while (written_.load(std::memory_order_acquire) == read)
            std::this_thread::yield();
        Message message = slots_[read % kCapacity];
        read_.store(read + 1, std::memory_order_release);
        return message;
    }

private:
    std::array<Message, kCapacity> slots_{};
    std::atomic<std::size_t> written_{0};
    std::atomic<std::size_t> read_{0};
};

unsigned encode(unsigned payload)
{
    return compute(payload, kStageRounds);
}

void produce(Ring& out)
{
    for (unsigned number = 0; number < kMessages; number++)
        out.push(Message{number, number * 7});
}

void transform(Ring& in, Ring& out)
{
    for (unsigned i = 0; i < kMessages; i++) {
        Message message = in.pop();
        message.payload = encode(message.payload);
        out.push(message);
    }
}

// How many messages are out of order or damaged.
unsigned check(Ring& in)
{
    unsigned wrong = 0;
    for (unsigned number = 0; number < kMessages; number++) {
        Message message = in.pop();
        if (message.number != number || message.payload != encode(number * 7))
            wrong++;
    }
    return wrong;
}

}  // namespace

int main()
{
    Ring raw;
    Ring encoded;
    unsigned wrong = 0;

    std::thread producer([&raw] { produce(raw); });
    std::thread transformer([&raw, &encoded] { transform(raw, encoded); });
    std::thread checker([&encoded, &wrong] { wrong = check(encoded); });
    producer.join();
    transformer.join();
    checker.join();
    return verdict(wrong == 0);
}
