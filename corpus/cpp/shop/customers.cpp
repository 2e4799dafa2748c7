// Two customers walk through a shop, one from the first shelf to the last, one from the last to the first, and buy what
// is left of each article. A supplier fills some shelves before they come. A customer looks whether a shelf is empty
// and then takes an item: when the other one takes the last item in between, he goes home with nothing.
#include <chrono>
#include <cstdio>
#include <deque>
#include <thread>

#include "../../background.h"
#include "../../work.h"
#include "shop.h"

namespace {

constexpr unsigned kShelves = 64;
constexpr unsigned kSupplies = 8;
constexpr unsigned kWalkRounds = 2500;
constexpr unsigned kChooseRounds = 600;
constexpr unsigned kShelvesPerAisle = 8;
constexpr std::chrono::microseconds kAisleTime{20};

class Shop {
public:
    Shop()
    {
        for (unsigned shelf = 0; shelf < kShelves; shelf++)
            shelves_.emplace_back(static_cast<int>(shelf));
    }

    void supply();
    Stock& shelf(unsigned number) { return shelves_[number]; }

private:
    std::deque<Stock> shelves_;
};

// The shelves at both ends are popular.
void Shop::supply()
{
    for (unsigned i = 0; i < kSupplies; i++) {
        shelves_[i].put_item(static_cast<int>(i));
        shelves_[kShelves - 1 - i].put_item(static_cast<int>(i));
    }
}

class Customer {
public:
    explicit Customer(Shop& shop) : shop_(shop) {}

    void walk_upwards();
    void walk_downwards();

    // Items that he paid for and did not get.
    int missing() const { return missing_; }
    unsigned steps() const { return steps_; }

private:
    void visit(unsigned number);
    void buy(Stock& stock);
    bool choose();

    Shop& shop_;
    unsigned steps_ = 0;
    int missing_ = 0;
};

bool Customer::choose()
{
    steps_ ^= compute(steps_, kChooseRounds);
    return steps_ != 0;
}

#ifdef FIXED

void Customer::buy(Stock& stock)
{
    if (choose())
        stock.get_item();
}

#else

void Customer::buy(Stock& stock)
{
    if (stock.is_empty() || !choose())
        return;
    missing_ += stock.get_item() == kNoItem;
}

#endif

void Customer::visit(unsigned number)
{
    if (number % kShelvesPerAisle == 0)
        std::this_thread::sleep_for(kAisleTime);
    background_step(number);
    steps_ += compute(number, kWalkRounds);
    buy(shop_.shelf(number));
}

void Customer::walk_upwards()
{
    for (unsigned shelf = 0; shelf < kShelves; shelf++)
        visit(shelf);
}

void Customer::walk_downwards()
{
    for (unsigned shelf = kShelves; shelf-- > 0;)
        visit(shelf);
}

}  // namespace

int main()
{
    Shop shop;
    Customer first(shop);
    Customer second(shop);

    std::thread supplier([&shop] { shop.supply(); });
    supplier.join();
    std::thread up([&first] { first.walk_upwards(); });
    std::thread down([&second] { second.walk_downwards(); });
    up.join();
    down.join();
    std::printf("steps %08x\n", first.steps() + second.steps());
    return first.missing() + second.missing() == 0 ? 0 : 1;
}
