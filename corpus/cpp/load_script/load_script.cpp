// Two browser tabs load scripts through one context. The loader makes a script the current one, and the compiler
// later asks the context for it. Setting and asking are each locked; between them the other tab may
// have made its own script the current one, and a tab compiles what it never asked for.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "../../background.h"
#include "../../work.h"
#include "script_context.h"

namespace {

constexpr unsigned kTabs = 2;
constexpr unsigned kScriptsPerTab = 12;
constexpr std::chrono::microseconds kTimePerKilobyte{5};
constexpr unsigned kRoundsPerKilobyte = 2000;
constexpr unsigned kPrincipalRounds = 500;

Script fetch(const std::string& url)
{
    unsigned kilobytes = 5 + std::hash<std::string>{}(url) % 10;
    std::this_thread::sleep_for(kilobytes * kTimePerKilobyte);
    unsigned body = compute(kilobytes, kilobytes * kRoundsPerKilobyte);
    return Script{url, "answer = " + std::to_string(body)};
}

class ScriptLoader {
public:
    // Compiles the script and returns its fingerprint.
    unsigned load(const Script& script);

private:
    unsigned check_principal(const std::string& url);
    unsigned compile(const std::string& requested_url);

    ScriptContext context_;
#ifdef FIXED
    std::mutex one_load_at_a_time_;
#endif
};

unsigned ScriptLoader::check_principal(const std::string& url)
{
    return compute(static_cast<unsigned>(url.front()), kPrincipalRounds);
}

unsigned ScriptLoader::compile(const std::string& requested_url)
{
    const Script* script = context_.current();
    if (script->url != requested_url) {
        std::fprintf(stderr, "asked to compile %s, got another script\n", requested_url.c_str());
        std::abort();
    }
    unsigned fingerprint = 0;
    for (char c : script->source)
        fingerprint = fingerprint * 31 + static_cast<unsigned char>(c);
    return fingerprint;
}

unsigned ScriptLoader::load(const Script& script)
{
#ifdef FIXED
    std::lock_guard<std::mutex> guard(one_load_at_a_time_);
#endif
    context_.set_current(&script);
    unsigned principal = check_principal(script.url);
    return compile(script.url) ^ principal;
}

class Tab {
public:
    Tab(ScriptLoader& loader, std::string host) : loader_(loader), host_(std::move(host)) {}

    void load_page()
    {
        for (unsigned i = 0; i < kScriptsPerTab; i++) {
            background_step(i);
            scripts_.push_back(fetch(host_ + "/script" + std::to_string(i) + ".js"));
            fingerprint_ ^= loader_.load(scripts_.back());
        }
    }

private:
    ScriptLoader& loader_;
    std::string host_;
    std::deque<Script> scripts_;
    unsigned fingerprint_ = 0;
};

}  // namespace

int main()
{
    ScriptLoader loader;
    std::vector<Tab> tabs;
    for (unsigned i = 0; i < kTabs; i++)
        tabs.emplace_back(loader, "host" + std::to_string(i));

    std::vector<std::thread> threads;
    for (Tab& tab : tabs)
        threads.emplace_back(&Tab::load_page, &tab);
    for (std::thread& thread : threads)
        thread.join();
    return 0;
}
