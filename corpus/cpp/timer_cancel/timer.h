// A timer that calls its owner unless it was cancelled.
#pragma once

#include <atomic>
#include <mutex>

// Whom a timer calls.
class Owner {
public:
    // The time has come. Says whether the owner was still there.
    bool expire(unsigned time);

    // Nobody may call it from now on.
    void close();

private:
    std::atomic<bool> is_open_{true};
};

class Timer {
public:
    Timer(unsigned number, Owner& owner) : number_(number), owner_(owner) {}

    // Calls the owner, if the timer is active; says whether that went well.
    bool fire();

    // The owner is not called after this.
    void cancel();

private:
    bool is_active();
    unsigned now() const;

    unsigned number_;
    std::mutex mutex_;
    bool is_active_ = true;
    Owner& owner_;
};
