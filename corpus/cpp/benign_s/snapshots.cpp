// Correct: subscribers of a topic in a list that is copied on every change. Publishers take the current list under the lock and
// walk it without; a subscriber that has just left may still get a message, which its shared ownership makes safe.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "../../verdict.h"
#include "../../work.h"

namespace {

constexpr unsigned kPublishers = 2;
constexpr unsigned kMessages = 80;
constexpr unsigned kVisitors = 40;
constexpr unsigned kMessageRounds = 1500;
constexpr unsigned kVisitRounds = 2000;

class Subscriber {
public:
    void receive(unsigned message) { received_.fetch_add(message, std::memory_order_relaxed); }

    unsigned received() const { return received_.load(std::memory_order_relaxed); }

private:
    std::atomic<unsigned> received_{0};
};

class Topic {
public:
    using Subscribers = std::vector<std::shared_ptr<Subscriber>>;

    void join(std::shared_ptr<Subscriber> subscriber)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        auto changed = std::make_shared<Subscribers>(*subscribers_);
        changed->push_back(std::move(subscriber));
        subscribers_ = std::move(changed);
    }

    void leave(const std::shared_ptr<Subscriber>& subscriber)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        auto changed = std::make_shared<Subscribers>(*subscribers_);
        changed->erase(std::remove(changed->begin(), changed->end(), subscriber), changed->end());
        subscribers_ = std::move(changed);
    }

    void publish(unsigned message)
    {
        std::shared_ptr<const Subscribers> subscribers = current();
        for (const std::shared_ptr<Subscriber>& subscriber : *subscribers)
            subscriber->receive(message);
    }

    std::size_t size() { return current()->size(); }

private:
    std::shared_ptr<const Subscribers> current()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        return subscribers_;
    }

    std::mutex mutex_;
    std::shared_ptr<const Subscribers> subscribers_ = std::make_shared<Subscribers>();
};

unsigned publish_all(Topic& topic)
{
    unsigned digest = 0;
    for (unsigned message = 1; message <= kMessages; message++) {
        digest ^= compute(message, kMessageRounds);
        topic.publish(message);
    }
    return digest;
}

unsigned come_and_go(Topic& topic)
{
    unsigned digest = 0;
    for (unsigned visitor = 0; visitor < kVisitors; visitor++) {
        auto subscriber = std::make_shared<Subscriber>();
        topic.join(subscriber);
        digest ^= compute(visitor, kVisitRounds);
        topic.leave(subscriber);
    }
    return digest;
}

}  // namespace

int main()
{
    Topic topic;
    auto regular = std::make_shared<Subscriber>();
    std::atomic<unsigned> digest{0};
    std::vector<std::thread> threads;

    topic.join(regular);
    for (unsigned i = 0; i < kPublishers; i++)
        threads.emplace_back([&topic, &digest] { digest ^= publish_all(topic); });
    threads.emplace_back([&topic, &digest] { digest ^= come_and_go(topic); });
    for (std::thread& thread : threads)
        thread.join();
    // The regular was there all the time, so every message came.
    return verdict(topic.size() == 1 && regular->received() == kPublishers * kMessages * (kMessages + 1) / 2);
}
