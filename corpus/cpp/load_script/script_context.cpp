#include "script_context.h"

void ScriptContext::set_current(const Script* script)
{
    std::lock_guard<std::mutex> guard(mutex_);
    current_ = script;                                  // truth:A1
}

const Script* ScriptContext::current()
{
    std::lock_guard<std::mutex> guard(mutex_);
    return current_;                                    // truth:A2
}
