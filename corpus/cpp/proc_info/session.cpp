#include "session.h"

#include "../../work.h"

namespace {

constexpr unsigned kStatementRounds = 900;
constexpr unsigned kColumnRounds = 1500;

std::string id_column(unsigned id)
{
    return std::to_string(id) + '/' + std::to_string(compute(id, kColumnRounds) % 10);
}

}  // namespace

void Session::leave()
{
    std::lock_guard<std::mutex> guard(mutex_);
    info_ = nullptr;                                    // truth:A2
}

void Session::finish_statement()
{
    rows_ += compute(id_, kStatementRounds) % 10;
    leave();
}

std::string Session::activity() const
{
#ifdef FIXED
    std::lock_guard<std::mutex> guard(mutex_);
    const char* info = info_;
    std::string id = id_column(id_);
    return info ? id + ' ' + info : id;
#else
    if (!info_)                                         // truth:A1
        return id_column(id_);
    std::string id = id_column(id_);
    const char* info = info_;                           // truth:A3
    return id.append(1, ' ').append(info);
#endif
}

std::string Session::describe() const
{
    return "session " + activity();
}
