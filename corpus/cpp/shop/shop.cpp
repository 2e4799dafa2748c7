#include "shop.h"

bool Stock::is_empty()
{
    std::lock_guard<std::mutex> guard(mutex_);
    return left_ == 0;                                  // truth:A1
}

int Stock::get_item()
{
    std::lock_guard<std::mutex> guard(mutex_);
    int left = left_;                                   // truth:A3
    if (left == 0)
        return kNoItem;
    left_ = left - 1;                                   // truth:A2
    int item = items_.back();
    items_.pop_back();
    return item;
}

void Stock::put_item(int item)
{
    std::lock_guard<std::mutex> guard(mutex_);
    items_.push_back(item);
    left_++;
}
