#include "limits.h"

#include "../../work.h"

namespace {

constexpr unsigned kLoadRounds = 60;

}  // namespace

Limits::Limits(unsigned tenant) : tenant_(tenant) {}

unsigned Limits::rate() const
{
    return rate_.load();                                // truth:A3
}

void Limits::load()
{
    rate_.store(compute(tenant_, kLoadRounds) % 100 + 1);  // truth:A4
}

void Tenant::make_limits()
{
    std::lock_guard<std::mutex> guard(mutex_);
    if (limits_.load() != nullptr)
        return;
    auto* limits = new Limits(number_);
#ifdef FIXED
    limits->load();
    limits_.store(limits);
#else
    limits_.store(limits);                              // truth:A1
    limits->load();
#endif
}

const Limits& Tenant::limits()
{
    Limits* limits = limits_.load();                    // truth:A2
    if (limits == nullptr) {
        make_limits();
        limits = limits_.load();
    }
    return *limits;
}
