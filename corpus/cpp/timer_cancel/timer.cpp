#include "timer.h"

#include "../../work.h"

namespace {

constexpr unsigned kClockRounds = 80;

}  // namespace

bool Owner::expire(unsigned time)
{
    return is_open_.load() && time != 0;                // truth:A4
}

void Owner::close()
{
    is_open_.store(false);                              // truth:A3
}

bool Timer::is_active()
{
    std::lock_guard<std::mutex> guard(mutex_);
    return is_active_;                                  // truth:A1
}

// Stands for a look at the clock.
unsigned Timer::now() const
{
    return compute(number_, kClockRounds);
}

bool Timer::fire()
{
#ifdef FIXED
    std::lock_guard<std::mutex> guard(mutex_);
    return !is_active_ || owner_.expire(now());
#else
    return !is_active() || owner_.expire(now());
#endif
}

void Timer::cancel()
{
    std::lock_guard<std::mutex> guard(mutex_);
    is_active_ = false;                                 // truth:A2
}
