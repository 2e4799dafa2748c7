// What the script loader and the compiler agree on: the script that is being worked on.
#pragma once

#include <mutex>
#include <string>

struct Script {
    std::string url;
    std::string source;
};

class ScriptContext {
public:
    void set_current(const Script* script);
    const Script* current();

private:
    std::mutex mutex_;
    const Script* current_ = nullptr;
};
