// A replica follows several sources, each over a channel of its own. The I/O thread reads a few events from every
// channel and then moves it to its next relay log, from the first channel to the last; the checkpoint thread
// notes how far every channel is, from the last to the first. A checkpoint takes file and position one
// after the other, so a rotation in between pairs the old file with a position in the new one.
#include <chrono>
#include <deque>
#include <stdexcept>
#include <thread>

#include "../../background.h"
#include "../../work.h"
#include "channel.h"

namespace {

constexpr unsigned kChannels = 64;
constexpr unsigned kEventsPerChannel = 3;
constexpr unsigned kEventRounds = 500;
constexpr unsigned kWriteRounds = 1500;
constexpr unsigned kCheckpointsPerSync = 8;
constexpr unsigned kChannelsPerPacket = 8;
constexpr std::chrono::microseconds kIoTime{20};
constexpr std::uint64_t kStartPosition = 1000;
constexpr std::uint32_t kFirstFile = 1;

class Replica {
public:
    Replica()
    {
        for (unsigned i = 0; i < kChannels; i++)
            channels_.emplace_back(kStartPosition);
    }

    void read_events();
    void write_checkpoints();

private:
    void follow(Channel& channel);
    void save(const Checkpoint& checkpoint);

    std::deque<Channel> channels_;
    unsigned events_digest_ = 0;
    unsigned written_digest_ = 0;
};

void Replica::follow(Channel& channel)
{
    for (unsigned event = 0; event < kEventsPerChannel; event++) {
        events_digest_ = compute(events_digest_, kEventRounds);
        channel.advance(100 + events_digest_ % 100);
    }
    channel.rotate();
}

void Replica::read_events()
{
    for (unsigned i = 0; i < kChannels; i++) {
        background_step(i);
        if (i % kChannelsPerPacket == 0)
            std::this_thread::sleep_for(kIoTime);
        follow(channels_[i]);
    }
}

// The first relay log was already read up to the start position, so an earlier place in it would repeat events.
void Replica::save(const Checkpoint& checkpoint)
{
    if (checkpoint.file == kFirstFile && checkpoint.position < kStartPosition)
        throw std::runtime_error("checkpoint goes back to " + checkpoint.file_name + ":" +
                                 std::to_string(checkpoint.position));
    written_digest_ ^= compute(checkpoint.file_size, kWriteRounds);
}

void Replica::write_checkpoints()
{
    for (unsigned i = kChannels; i-- > 0;) {
        background_step(i);
        if (i % kCheckpointsPerSync == 0)
            std::this_thread::sleep_for(kIoTime);
        save(channels_[i].checkpoint());
    }
}

}  // namespace

int main()
{
    Replica replica;

    std::thread io([&replica] { replica.read_events(); });
    std::thread checkpoints([&replica] { replica.write_checkpoints(); });
    io.join();
    checkpoints.join();
    return 0;
}
