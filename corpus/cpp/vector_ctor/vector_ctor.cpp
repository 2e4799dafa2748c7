// A program copies its vectors, from the last to the first, while another thread changes them, from the first to the
// last: to some it adds elements, from some it removes one, from some it removes all. The copying constructor asks for
// the size and then for the elements. A change in between makes a copy that is not sound; there are three such
// changes, and so three bugs with one repair.
#include <chrono>
#include <cstdio>
#include <deque>
#include <thread>
#include <vector>

#include "../../background.h"
#include "../../work.h"
#include "vector.h"

namespace {

constexpr unsigned kVectors = 63;
constexpr unsigned kChangeRounds = 2500;
constexpr unsigned kCopyRounds = 1800;
constexpr unsigned kVectorsPerEvent = 8;
constexpr std::chrono::microseconds kEventTime{20};

class Program {
public:
    Program()
    {
        for (unsigned i = 0; i < kVectors; i++)
            vectors_.emplace_back(std::vector<int>{1, 2, 3});
    }

    void change_all();

    // Returns how many copies are not sound.
    int copy_all();

private:
    static unsigned handle_events(unsigned number, unsigned rounds);
    void change(unsigned number);

    std::deque<Vector> vectors_;
};

unsigned Program::handle_events(unsigned number, unsigned rounds)
{
    if (number % kVectorsPerEvent == 0)
        std::this_thread::sleep_for(kEventTime);
    background_step(number);
    return compute(number, rounds);
}

void Program::change(unsigned number)
{
    Vector& vector = vectors_[number];
    switch (number % 3) {
    case 0:
        vector.add_all({4, 5});
        break;
    case 1:
        vector.remove_all();
        break;
    default:
        vector.remove_last();
    }
}

void Program::change_all()
{
    unsigned digest = 0;
    for (unsigned i = 0; i < kVectors; i++) {
        digest ^= handle_events(i, kChangeRounds);
        change(i);
    }
    std::printf("changed %08x\n", digest);
}

int Program::copy_all()
{
    unsigned digest = 0;
    int unsound = 0;
    for (unsigned i = kVectors; i-- > 0;) {
        digest ^= handle_events(i, kCopyRounds);
        Vector copy(vectors_[i]);
        unsound += !copy.is_sound();
    }
    std::printf("copied %08x\n", digest);
    return unsound;
}

}  // namespace

int main()
{
    Program program;
    int unsound = 0;

    std::thread changes([&program] { program.change_all(); });
    std::thread copies([&program, &unsound] { unsound = program.copy_all(); });
    changes.join();
    copies.join();
    return unsound == 0 ? 0 : 1;
}
