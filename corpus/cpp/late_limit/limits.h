// What a tenant may do, read from its settings when it is first asked for.
#pragma once

#include <atomic>
#include <mutex>

class Limits {
public:
    explicit Limits(unsigned tenant);

    // Requests in a second.
    unsigned rate() const;

private:
    friend class Tenant;

    // Stands for reading the settings.
    void load();

    unsigned tenant_;
    std::atomic<unsigned> rate_{0};
};

class Tenant {
public:
    explicit Tenant(unsigned number) : number_(number) {}
    ~Tenant() { delete limits_.load(); }

    // Made by whoever asks first.
    const Limits& limits();

private:
    void make_limits();

    unsigned number_;
    std::mutex mutex_;
    std::atomic<Limits*> limits_{nullptr};
};
