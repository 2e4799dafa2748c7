// Philosophers at a round table think and eat. Each takes his left fork and then his right one. When all have taken
// their left forks, each waits for his neighbour, and the program hangs.
#include <cstdio>
#include <thread>
#include <vector>

#include "../../background.h"
#include "../../work.h"
#include "table.h"

namespace {

constexpr unsigned kMeals = 3;
constexpr unsigned kThinkRounds = 200000;

class Philosopher {
public:
    Philosopher(Table& table, unsigned seat) : table_(table), seat_(seat) {}

    void live()
    {
        for (unsigned meal = 0; meal < kMeals; meal++) {
            think(meal);
            thoughts_ ^= table_.eat(seat_);
        }
    }

    unsigned thoughts() const { return thoughts_; }

private:
    // Not all thoughts are equally deep.
    void think(unsigned meal)
    {
        background_step(seat_ + meal);
        thoughts_ ^= compute(meal, kThinkRounds + seat_ * kThinkRounds / 4);
    }

    Table& table_;
    unsigned seat_;
    unsigned thoughts_ = 0;
};

}  // namespace

int main()
{
    Table table;
    std::vector<Philosopher> philosophers;
    for (unsigned seat = 0; seat < kSeats; seat++)
        philosophers.emplace_back(table, seat);

    std::vector<std::thread> threads;
    for (Philosopher& philosopher : philosophers)
        threads.emplace_back(&Philosopher::live, &philosopher);
    for (std::thread& thread : threads)
        thread.join();

    unsigned thoughts = 0;
    for (const Philosopher& philosopher : philosophers)
        thoughts ^= philosopher.thoughts();
    std::printf("thoughts %08x\n", thoughts);
    return 0;
}
