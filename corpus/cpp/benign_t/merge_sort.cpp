// Correct: a merge sort whose halves are sorted by threads of their own. All share one array, at no time the same part of it;
// memory changes hands when threads start and end. A locked log tells which parts are done.
#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "../../verdict.h"
#include "../../work.h"

namespace {

constexpr unsigned kNumbers = 2048;
constexpr unsigned kParallelDepth = 2;
constexpr unsigned kSmallest = 32;

struct Part {
    unsigned begin;
    unsigned end;
};

class Sorter {
public:
    explicit Sorter(std::vector<unsigned> numbers) : numbers_(std::move(numbers)), scratch_(numbers_.size()) {}

    const std::vector<unsigned>& sort()
    {
        sort(Part{0, static_cast<unsigned>(numbers_.size())}, kParallelDepth);
        return numbers_;
    }

    // Parts in the order in which they were done.
    const std::vector<Part>& done() const { return done_; }

private:
    void sort(Part part, unsigned parallel_depth)
    {
        if (part.end - part.begin <= kSmallest) {
            std::sort(numbers_.begin() + part.begin, numbers_.begin() + part.end);
            return;
        }
        unsigned middle = (part.begin + part.end) / 2;
        Part left{part.begin, middle};
        Part right{middle, part.end};
        if (parallel_depth > 0) {
            std::thread other([this, left, parallel_depth] { sort(left, parallel_depth - 1); });
            sort(right, parallel_depth - 1);
            other.join();
        } else {
            sort(left, 0);
            sort(right, 0);
        }
        merge(left, right);
        note_done(part);
    }

    void merge(Part left, Part right)
    {
        auto numbers = numbers_.begin();
        auto merged = scratch_.begin() + left.begin;
        auto end = std::merge(numbers + left.begin, numbers + left.end, numbers + right.begin, numbers + right.end,
                              merged);
        std::copy(merged, end, numbers + left.begin);
    }

    void note_done(Part part)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        done_.push_back(part);
    }

    std::vector<unsigned> numbers_;
    std::vector<unsigned> scratch_;
    std::mutex mutex_;
    std::vector<Part> done_;
};

std::vector<unsigned> shuffled()
{
    std::vector<unsigned> numbers(kNumbers);
    for (unsigned i = 0; i < kNumbers; i++)
        numbers[i] = compute(i, 30);
    return numbers;
}

}  // namespace

int main()
{
    std::vector<unsigned> expected = shuffled();
    std::sort(expected.begin(), expected.end());

    Sorter sorter(shuffled());
    bool sorted = sorter.sort() == expected;
    const std::vector<Part>& done = sorter.done();
    bool whole_is_last = !done.empty() && done.back().begin == 0 && done.back().end == kNumbers;
    return verdict(sorted && whole_is_last);
}
