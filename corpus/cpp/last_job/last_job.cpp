// Producers end: each lane gets its last job and is closed, from the first lane to the last, while a worker visits the
// lanes from the last to the first. It retires a lane that has no job and is closed, and leaves the others for the next round.
// A lane that gets its last job and is closed between the two questions is retired with the job in it.
#include <cstdio>
#include <deque>
#include <thread>
#include <vector>

#include "../../background.h"
#include "../../work.h"
#include "lane.h"

namespace {

constexpr unsigned kLanes = 32;
constexpr unsigned kProduceRounds = 3500;
constexpr unsigned kVisitRounds = 3000;

class Pipeline {
public:
    Pipeline()
    {
        for (unsigned number = 0; number < kLanes; number++)
            lanes_.emplace_back(number);
    }

    void produce();
    void work();

    // When the producers have ended.
    void work_on_the_rest();

    unsigned done() const { return done_; }

private:
    void finish(Lane& lane);

    std::deque<Lane> lanes_;
    std::vector<Lane*> left_;
    unsigned done_ = 0;
};

void Pipeline::produce()
{
    for (unsigned number = 0; number < kLanes; number++) {
        background_step(number);
        unsigned job = compute(number, kProduceRounds) | 1;
        lanes_[number].add(job);
        lanes_[number].close();
    }
}

void Pipeline::finish(Lane& lane)
{
    if (lane.take() != 0)
        done_++;
    else if (!lane.is_finished())
        left_.push_back(&lane);
}

void Pipeline::work()
{
    unsigned digest = 0;
    for (unsigned number = kLanes; number-- > 0;) {
        background_step(number);
        digest ^= compute(number, kVisitRounds);
        finish(lanes_[number]);
    }
    std::printf("digest %08x\n", digest);
}

void Pipeline::work_on_the_rest()
{
    for (Lane* lane : left_)
        done_ += lane->take() != 0 ? 1 : 0;
}

}  // namespace

int main()
{
    Pipeline pipeline;

    std::thread producer([&pipeline] { pipeline.produce(); });
    std::thread worker([&pipeline] { pipeline.work(); });
    producer.join();
    worker.join();
    pipeline.work_on_the_rest();
    std::printf("%u of %u jobs done\n", pipeline.done(), kLanes);
    return pipeline.done() == kLanes ? 0 : 1;
}
