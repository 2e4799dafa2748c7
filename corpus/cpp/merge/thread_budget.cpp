#include "thread_budget.h"

#include "../../work.h"

namespace {

constexpr unsigned kPlanRounds = 6000;

// Stands for deciding where to split.
bool worth_a_thread(int available)
{
    return compute(static_cast<unsigned>(available), kPlanRounds) != 0;
}

}  // namespace

int ThreadBudget::available()
{
    std::lock_guard<std::mutex> guard(mutex_);
    return available_;
}

#ifdef FIXED

bool ThreadBudget::take()
{
    std::lock_guard<std::mutex> guard(mutex_);
    if (available_ <= 0 || !worth_a_thread(available_))
        return false;
    available_--;
    return true;
}

#else

bool ThreadBudget::has_some()
{
    std::lock_guard<std::mutex> guard(mutex_);
    return available_ > 0;                              // truth:A1
}

void ThreadBudget::use_one()
{
    std::lock_guard<std::mutex> guard(mutex_);
    int available = available_;                         // truth:A3
    available_ = available - 1;                         // truth:A2
}

bool ThreadBudget::take()
{
    if (!has_some() || !worth_a_thread(1))
        return false;
    use_one();
    return true;
}

#endif
