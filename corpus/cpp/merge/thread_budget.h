// How many more threads a sort may start.
#pragma once

#include <mutex>

class ThreadBudget {
public:
    explicit ThreadBudget(int threads) : available_(threads) {}

    // Takes one thread out of the budget if there is one.
    bool take();

    // Threads left; negative if more were taken than there were.
    int available();

private:
    bool has_some();
    void use_one();

    std::mutex mutex_;
    int available_;
};
