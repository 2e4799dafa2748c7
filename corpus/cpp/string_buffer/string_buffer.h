// A growing string that threads share. Every operation is atomic by itself.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

class StringBuffer {
public:
    explicit StringBuffer(const std::string& text);

    std::size_t length() const;

    // Keeps the first `length` characters.
    void set_length(std::size_t length);

    // Appends all characters of the other buffer.
    void append(const StringBuffer& other);

private:
    // The first `count` characters; throws if there are fewer.
    std::string characters(std::size_t count) const;

    void append(const std::string& text);

    static constexpr std::size_t kCapacity = 64;

    mutable std::mutex mutex_;
    std::size_t count_ = 0;
    char characters_[kCapacity];
};
