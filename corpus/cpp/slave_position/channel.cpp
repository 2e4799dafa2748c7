#include "channel.h"

#include <utility>

#include "../../work.h"

namespace {

constexpr unsigned kStatRounds = 1500;

std::string relay_log_name(std::uint32_t file)
{
    std::string digits = std::to_string(file);
    return "relay-bin." + std::string(6 - digits.size(), '0') + digits;
}

// Stands for asking the file system.
unsigned stat_relay_log(const std::string& name)
{
    return compute(static_cast<unsigned>(name.back()), kStatRounds);
}

}  // namespace

void Channel::advance(std::uint64_t size)
{
    std::lock_guard<std::mutex> guard(mutex_);
    position_ += size;
}

void Channel::rotate()
{
    std::lock_guard<std::mutex> guard(mutex_);
    file_++;                                            // truth:A2
    position_ = kHeaderSize;                            // truth:A3
}

#ifdef FIXED

Checkpoint Channel::checkpoint()
{
    std::lock_guard<std::mutex> guard(mutex_);
    std::string name = relay_log_name(file_);
    unsigned size = stat_relay_log(name);
    return Checkpoint{file_, std::move(name), size, position_};
}

#else

std::uint32_t Channel::file()
{
    std::lock_guard<std::mutex> guard(mutex_);
    return file_;                                       // truth:A1
}

std::uint64_t Channel::position()
{
    std::lock_guard<std::mutex> guard(mutex_);
    return position_;                                   // truth:A4
}

Checkpoint Channel::checkpoint()
{
    std::uint32_t current_file = file();
    std::string name = relay_log_name(current_file);
    unsigned size = stat_relay_log(name);
    return Checkpoint{current_file, std::move(name), size, position()};
}

#endif
