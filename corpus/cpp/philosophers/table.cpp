#include "table.h"

#include <utility>

#include "../../work.h"

namespace {

constexpr unsigned kReachRounds = 60000;
constexpr unsigned kEatRounds = 4000;

}  // namespace

// The other fork is far away.
unsigned Table::reach(unsigned seat)
{
    return compute(seat, kReachRounds);
}

unsigned Table::eat_with(Fork& first, Fork& second)
{
    first.mutex.lock();                                 // truth:A1
    unsigned taste = reach(first.meals);
    second.mutex.lock();                                // truth:A2
    taste ^= compute(taste, kEatRounds);
    first.meals++;
    second.meals++;
    second.mutex.unlock();
    first.mutex.unlock();
    return taste;
}

unsigned Table::eat(unsigned seat)
{
    unsigned left = seat;
    unsigned right = (seat + 1) % kSeats;
#ifdef FIXED
    // The philosopher at the end takes his forks the other way round, which breaks the circle.
    if (left > right)
        std::swap(left, right);
#endif
    return eat_with(forks_[left], forks_[right]);
}
