// A lane of jobs. Its producer adds jobs and then closes it; a worker that finds it empty and closed is done with it.
#pragma once

#include <deque>
#include <mutex>

class Lane {
public:
    explicit Lane(unsigned number) : number_(number) {}

    void add(unsigned job);
    void close();

    // Takes a job; 0 if there is none.
    unsigned take();

    // Whether nothing will ever be added to what take() has left.
    bool is_finished();

private:
    bool is_closed();

    unsigned number_;
    std::mutex mutex_;
    std::deque<unsigned> jobs_;
    unsigned count_ = 0;
    bool is_closed_ = false;
};
