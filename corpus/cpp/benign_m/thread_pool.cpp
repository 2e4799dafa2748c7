// Correct: a pool of threads that run tasks, some of which submit further tasks.
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "../../verdict.h"
#include "../../work.h"

namespace {

constexpr unsigned kThreads = 3;
constexpr unsigned kFolders = 12;
constexpr unsigned kFilesPerFolder = 6;
constexpr unsigned kFileRounds = 2000;

class Pool {
public:
    explicit Pool(unsigned threads)
    {
        for (unsigned i = 0; i < threads; i++)
            threads_.emplace_back([this] { run_tasks(); });
    }

    ~Pool()
    {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            closing_ = true;
        }
        work_.notify_all();
        for (std::thread& thread : threads_)
            thread.join();
    }

    void submit(std::function<void()> task)
    {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            unfinished_++;
            tasks_.push_back(std::move(task));
        }
        work_.notify_one();
    }

    // Returns when every task is done, also those that tasks submitted.
    void wait()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        idle_.wait(lock, [this] { return unfinished_ == 0; });
    }

private:
    void run_tasks()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            work_.wait(lock, [this] { return closing_ || !tasks_.empty(); });
            if (tasks_.empty())
                return;
            std::function<void()> task = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            task();
            lock.lock();
            if (--unfinished_ == 0)
                idle_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable work_;
    std::condition_variable idle_;
    std::deque<std::function<void()>> tasks_;
    unsigned unfinished_ = 0;
    bool closing_ = false;
    std::vector<std::thread> threads_;
};

unsigned read_file(unsigned folder, unsigned file)
{
    return compute(folder * kFilesPerFolder + file, kFileRounds);
}

// Searches a tree of files: a task for each folder, and one for each file, submitted by the folder's.
class Search {
public:
    unsigned run()
    {
        Pool pool(kThreads);
        for (unsigned folder = 0; folder < kFolders; folder++)
            pool.submit([this, &pool, folder] { visit(pool, folder); });
        pool.wait();
        return found_;
    }

private:
    void visit(Pool& pool, unsigned folder)
    {
        for (unsigned file = 0; file < kFilesPerFolder; file++)
            pool.submit([this, folder, file] { add(read_file(folder, file)); });
    }

    void add(unsigned digest)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        found_ += digest;
    }

    std::mutex mutex_;
    unsigned found_ = 0;
};

}  // namespace

int main()
{
    unsigned expected = 0;
    for (unsigned folder = 0; folder < kFolders; folder++) {
        for (unsigned file = 0; file < kFilesPerFolder; file++)
            expected += read_file(folder, file);
    }
    Search search;
    return verdict(search.run() == expected);
}
