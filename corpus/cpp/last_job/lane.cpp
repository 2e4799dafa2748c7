#include "lane.h"

#include "../../work.h"

namespace {

constexpr unsigned kCountRounds = 100;

// Stands for counting that a worker had nothing to do.
unsigned idle(unsigned lane)
{
    return compute(lane, kCountRounds) == 0 ? 1 : 0;
}

}  // namespace

void Lane::add(unsigned job)
{
    std::lock_guard<std::mutex> guard(mutex_);
    jobs_.push_back(job);
    count_ += 1;                                        // truth:A2
}

void Lane::close()
{
    std::lock_guard<std::mutex> guard(mutex_);
    is_closed_ = true;                                  // truth:A3
}

unsigned Lane::take()
{
    std::lock_guard<std::mutex> guard(mutex_);
    if (count_ == 0)                                    // truth:A1
        return 0;
    unsigned job = jobs_.front();
    jobs_.pop_front();
    count_ -= 1;
    return job;
}

bool Lane::is_closed()
{
    std::lock_guard<std::mutex> guard(mutex_);
    return is_closed_;                                  // truth:A4
}

bool Lane::is_finished()
{
    if (idle(number_) != 0)
        return false;
#ifdef FIXED
    std::lock_guard<std::mutex> guard(mutex_);
    return is_closed_ && count_ == 0;
#else
    return is_closed();
#endif
}
