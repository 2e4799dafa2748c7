// A shop's stock of one article. Every operation is atomic by itself.
#pragma once

#include <mutex>
#include <vector>

constexpr int kNoItem = -1;

class Stock {
public:
    explicit Stock(int item) : items_{item} {}

    bool is_empty();

    // An item; kNoItem if there is none.
    int get_item();

    void put_item(int item);

private:
    std::mutex mutex_;
    std::vector<int> items_;
    int left_ = 1;
};
