// A merge sort by threads: two sorters have a half each, and one helper thread is left for whoever comes first to the
// point where it pays to split. A sorter asks whether there is a thread, and later takes it. When both ask before
// either takes, there are more threads than allowed.
#include <algorithm>
#include <cstdio>
#include <thread>
#include <vector>

#include "../../background.h"
#include "../../work.h"
#include "thread_budget.h"

namespace {

constexpr unsigned kNumbers = 256;
constexpr int kHelpers = 1;
constexpr unsigned kLoadRounds = 9000;

using Numbers = std::vector<unsigned>;
using Range = Numbers::iterator;

class MergeSort {
public:
    explicit MergeSort(Numbers& numbers) : numbers_(numbers) {}

    void sort();
    int threads_left() { return budget_.available(); }

private:
    void sort_half(Range first, Range last);
    void split(Range first, Range last);
    void sort_alone(Range first, Range last);

    Numbers& numbers_;
    ThreadBudget budget_{kHelpers};
};

void MergeSort::sort_alone(Range first, Range last)
{
    std::sort(first, last);
}

void MergeSort::split(Range first, Range last)
{
    Range middle = first + (last - first) / 2;
    if (budget_.take()) {
        std::thread helper([this, first, middle] { sort_alone(first, middle); });
        sort_alone(middle, last);
        helper.join();
    } else {
        sort_alone(first, middle);
        sort_alone(middle, last);
    }
    std::inplace_merge(first, middle, last);
}

// Stands for reading the half from a file first.
void MergeSort::sort_half(Range first, Range last)
{
    for (Range number = first; number < last; number += 16) {
        background_step(*number);
        *number ^= compute(*number, kLoadRounds);
    }
    split(first, last);
}

void MergeSort::sort()
{
    Range middle = numbers_.begin() + kNumbers / 2;
    std::thread lower([this, middle] { sort_half(numbers_.begin(), middle); });
    std::thread upper([this, middle] { sort_half(middle, numbers_.end()); });
    lower.join();
    upper.join();
    std::inplace_merge(numbers_.begin(), middle, numbers_.end());
}

}  // namespace

int main()
{
    Numbers numbers(kNumbers);
    for (unsigned i = 0; i < kNumbers; i++)
        numbers[i] = i * 2654435761u;

    MergeSort merge_sort(numbers);
    merge_sort.sort();
    bool sorted = std::is_sorted(numbers.begin(), numbers.end());
    int left = merge_sort.threads_left();
    std::printf("sorted: %d, threads left: %d\n", sorted, left);
    return sorted && left >= 0 ? 0 : 1;
}
