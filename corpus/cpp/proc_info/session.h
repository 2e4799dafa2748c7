// A client's session in a server, and what it says about itself while it executes a statement.
#pragma once

#include <mutex>
#include <string>

class Session {
public:
    // The session has just begun to execute a statement.
    explicit Session(unsigned id) : id_(id), info_("updating") {}

    // Executes the rest of the statement; until it ends, the session says what it is doing.
    void finish_statement();

    // A line for the list of sessions.
    std::string describe() const;

private:
    void leave();
    std::string activity() const;

    mutable std::mutex mutex_;
    unsigned id_;
    unsigned rows_ = 0;
    const char* info_;
};
