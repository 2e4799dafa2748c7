// Correct: workers with a locked deque each. A worker takes its own newest task and steals the oldest of others when it has
// none; tasks split themselves until they are small. Who does what differs from run to run.
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "../../verdict.h"
#include "../../work.h"

namespace {

constexpr unsigned kWorkers = 3;
constexpr unsigned kNumbers = 512;
constexpr unsigned kLeafSize = 16;
constexpr unsigned kNumberRounds = 150;

// A range of numbers to be scrambled and added up.
struct Task {
    unsigned begin;
    unsigned end;
};

class TaskDeque {
public:
    void push(Task task)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        tasks_.push_back(task);
    }

    std::optional<Task> take_newest()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        if (tasks_.empty())
            return std::nullopt;
        Task task = tasks_.back();
        tasks_.pop_back();
        return task;
    }

    std::optional<Task> steal_oldest()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        if (tasks_.empty())
            return std::nullopt;
        Task task = tasks_.front();
        tasks_.pop_front();
        return task;
    }

private:
    std::mutex mutex_;
    std::deque<Task> tasks_;
};

class Sum {
public:
    unsigned run()
    {
        deques_[0].push(Task{0, kNumbers});
        std::vector<std::thread> workers;
        for (unsigned i = 0; i < kWorkers; i++)
            workers.emplace_back([this, i] { work(i); });
        for (std::thread& worker : workers)
            worker.join();
        return sum_.load();
    }

private:
    std::optional<Task> find_task(unsigned self)
    {
        std::optional<Task> task = deques_[self].take_newest();
        for (unsigned i = 1; !task && i < kWorkers; i++)
            task = deques_[(self + i) % kWorkers].steal_oldest();
        return task;
    }

    void perform(unsigned self, Task task)
    {
        while (task.end - task.begin > kLeafSize) {
            unsigned middle = (task.begin + task.end) / 2;
            deques_[self].push(Task{middle, task.end});
            task.end = middle;
        }
        unsigned sum = 0;
        for (unsigned i = task.begin; i < task.end; i++)
            sum += compute(i, kNumberRounds);
        sum_.fetch_add(sum, std::memory_order_relaxed);
        unfinished_.fetch_sub(task.end - task.begin, std::memory_order_acq_rel);
    }

    void work(unsigned self)
    {
        while (unfinished_.load(std::memory_order_acquire) > 0) {
            if (std::optional<Task> task = find_task(self))
                perform(self, *task);
            else
                std::this_thread::yield();
        }
    }

    TaskDeque deques_[kWorkers];
    std::atomic<unsigned> unfinished_{kNumbers};
    std::atomic<unsigned> sum_{0};
};

}  // namespace

int main()
{
    unsigned expected = 0;
    for (unsigned i = 0; i < kNumbers; i++)
        expected += compute(i, kNumberRounds);
    Sum sum;
    return verdict(sum.run() == expected);
}
