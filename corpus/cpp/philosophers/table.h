// A round table with a fork between every two neighbours.
#pragma once

#include <array>
#include <mutex>

constexpr unsigned kSeats = 4;

struct Fork {
    std::mutex mutex;
    unsigned meals = 0;
};

class Table {
public:
    // Eats once, with both forks. Returns how the meal was.
    unsigned eat(unsigned seat);

private:
    unsigned eat_with(Fork& first, Fork& second);
    static unsigned reach(unsigned seat);

    std::array<Fork, kSeats> forks_;
};
