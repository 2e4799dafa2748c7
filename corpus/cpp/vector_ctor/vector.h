// A vector that threads share. Every operation is atomic by itself.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

class Vector {
public:
    explicit Vector(const std::vector<int>& elements);

    // A copy of the other vector.
    Vector(Vector& other);

    void add_all(const std::vector<int>& elements);
    void remove_all();
    void remove_last();

    // Whether there are as many elements as the vector says.
    bool is_sound() const;

private:
    static constexpr std::size_t kCapacity = 8;
    static constexpr int kNothing = -1;

    std::size_t size();
    std::size_t copy_to(int* target, std::size_t room);

    std::mutex mutex_;
    std::size_t count_ = 0;
    int elements_[kCapacity];
};
