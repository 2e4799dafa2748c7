// Two sorters share a batch of lists: of each list one of them sorts the lower half and the other the upper half. They
// walk the batch in opposite directions, and each list may have one helper thread. A sorter asks whether there is one
// left, and later takes it. When both meet at a list and ask before either takes, there are more helpers than allowed.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <thread>
#include <vector>

#include "../../background.h"
#include "../../work.h"
#include "thread_budget.h"

namespace {

constexpr unsigned kLists = 12;
constexpr unsigned kNumbers = 16;
constexpr int kHelpers = 1;
constexpr unsigned kLoadRounds = 3000;
constexpr unsigned kLoads = 2;

using Range = std::vector<unsigned>::iterator;

class List {
public:
    explicit List(unsigned seed) : numbers_(kNumbers)
    {
        for (unsigned i = 0; i < kNumbers; i++)
            numbers_[i] = compute(seed + i, 8);
    }

    void sort_lower() { sort_half(numbers_.begin(), middle()); }
    void sort_upper() { sort_half(middle(), numbers_.end()); }

    // Once both halves are sorted.
    bool merge();
    int helpers_left() { return helpers_.available(); }

private:
    Range middle() { return numbers_.begin() + kNumbers / 2; }
    void sort_half(Range first, Range last);
    void split(Range first, Range last);

    std::vector<unsigned> numbers_;
    ThreadBudget helpers_{kHelpers};
};

void List::split(Range first, Range last)
{
    Range middle = first + (last - first) / 2;
    if (helpers_.take()) {
        std::thread helper([first, middle] { std::sort(first, middle); });
        std::sort(middle, last);
        helper.join();
    } else {
        std::sort(first, middle);
        std::sort(middle, last);
    }
    std::inplace_merge(first, middle, last);
}

// Stands for reading the half from a file first.
void List::sort_half(Range first, Range last)
{
    for (unsigned load = 0; load < kLoads; load++) {
        background_step(load);
        first[load] ^= compute(first[load], kLoadRounds);
    }
    split(first, last);
}

bool List::merge()
{
    std::inplace_merge(numbers_.begin(), middle(), numbers_.end());
    return std::is_sorted(numbers_.begin(), numbers_.end());
}

}  // namespace

int main()
{
    std::deque<List> lists;
    for (unsigned i = 0; i < kLists; i++)
        lists.emplace_back(i * kNumbers);

    std::thread up([&lists] {
        for (unsigned i = 0; i < kLists; i++)
            lists[i].sort_lower();
    });
    std::thread down([&lists] {
        for (unsigned i = kLists; i-- > 0;)
            lists[i].sort_upper();
    });
    up.join();
    down.join();

    bool sorted = true;
    int overdrawn = 0;
    for (List& list : lists) {
        sorted &= list.merge();
        overdrawn += list.helpers_left() < 0;
    }
    std::printf("sorted: %d, lists with too many helpers: %d\n", sorted, overdrawn);
    return sorted && overdrawn == 0 ? 0 : 1;
}
