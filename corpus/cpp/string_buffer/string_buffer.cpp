#include "string_buffer.h"

#include <algorithm>
#include <stdexcept>

#include "../../work.h"

namespace {

constexpr unsigned kGrowRounds = 600;

// Stands for making room.
std::size_t grow(std::size_t length)
{
    return length + compute(static_cast<unsigned>(length), kGrowRounds) % 2;
}

}  // namespace

StringBuffer::StringBuffer(const std::string& text)
{
    append(text);
}

std::size_t StringBuffer::length() const
{
    std::lock_guard<std::mutex> guard(mutex_);
    return count_;                                      // truth:A1
}

void StringBuffer::set_length(std::size_t length)
{
    std::lock_guard<std::mutex> guard(mutex_);
    count_ = length;                                    // truth:A2
}

std::string StringBuffer::characters(std::size_t count) const
{
    std::lock_guard<std::mutex> guard(mutex_);
    if (count > count_)                                 // truth:A3
        throw std::out_of_range("a buffer has become shorter");
    return std::string(characters_, count);
}

void StringBuffer::append(const std::string& text)
{
    std::lock_guard<std::mutex> guard(mutex_);
    std::size_t room = std::min(text.size(), kCapacity - count_);
    std::copy_n(text.data(), room, characters_ + count_);
    count_ += room;
}

#ifdef FIXED

void StringBuffer::append(const StringBuffer& other)
{
    std::unique_lock<std::mutex> guard(other.mutex_);
    std::string text(other.characters_, other.count_);
    guard.unlock();
    if (grow(text.size()) > 0)
        append(text);
}

#else

void StringBuffer::append(const StringBuffer& other)
{
    std::size_t length = other.length();
    if (grow(length) > 0)
        append(other.characters(length));
}

#endif
