#include "vector.h"

#include <algorithm>

#include "../../work.h"

namespace {

constexpr unsigned kAllocateRounds = 900;

// Stands for allocating an array of this size.
std::size_t allocate(std::size_t size)
{
    return compute(static_cast<unsigned>(size), kAllocateRounds) ? size : 0;
}

}  // namespace

Vector::Vector(const std::vector<int>& elements)
{
    std::fill(elements_, elements_ + kCapacity, kNothing);
    add_all(elements);
}

void Vector::add_all(const std::vector<int>& elements)
{
    std::lock_guard<std::mutex> guard(mutex_);
    std::copy(elements.begin(), elements.end(), elements_ + count_);
    count_ += elements.size();                          // truth:A2
}

void Vector::remove_all()
{
    std::lock_guard<std::mutex> guard(mutex_);
    std::fill(elements_, elements_ + kCapacity, kNothing);
    count_ = 0;                                         // truth:B2
}

void Vector::remove_last()
{
    std::lock_guard<std::mutex> guard(mutex_);
    elements_[count_ - 1] = kNothing;
    count_--;                                           // truth:C2
}

#ifdef FIXED

Vector::Vector(Vector& other)
{
    std::lock_guard<std::mutex> guard(other.mutex_);
    count_ = allocate(other.count_);
    std::copy(other.elements_, other.elements_ + kCapacity, elements_);
}

#else

std::size_t Vector::size()
{
    std::lock_guard<std::mutex> guard(mutex_);
    return count_;                                      // truth:A1
}

// As many elements as there are and as there is room for; returns how many there are.
std::size_t Vector::copy_to(int* target, std::size_t room)
{
    std::lock_guard<std::mutex> guard(mutex_);
    std::size_t count = count_;                         // truth:A3
    std::copy(elements_, elements_ + std::min(count, room), target);
    return count;
}

Vector::Vector(Vector& other)
{
    std::fill(elements_, elements_ + kCapacity, kNothing);
    std::size_t size = allocate(other.size());
    std::size_t found = other.copy_to(elements_, size);
    // An array that is too small is not used, as with the classes of other languages.
    if (found > size)
        elements_[0] = kNothing;
    count_ = size;
}

#endif

bool Vector::is_sound() const
{
    std::size_t present = 0;
    while (present < kCapacity && elements_[present] != kNothing)
        present++;
    return present == count_;
}
