// Correct: a build whose steps wait for each other's results by futures. Several steps share the result of one, and the order
// in which they run is up to the scheduler.
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../../verdict.h"
#include "../../work.h"

namespace {

constexpr unsigned kModules = 8;
constexpr unsigned kCompileRounds = 4000;
constexpr unsigned kConfigureRounds = 8000;
constexpr unsigned kBadModule = 5;

struct Object {
    unsigned module;
    unsigned code;
};

unsigned configure()
{
    return compute(1, kConfigureRounds);
}

Object compile(unsigned module, unsigned configuration)
{
    return Object{module, compute(configuration + module, kCompileRounds)};
}

// Errors travel by the futures, too.
Object compile_strictly(unsigned module, unsigned configuration)
{
    if (module == kBadModule)
        throw std::runtime_error("unused variable");
    return compile(module, configuration);
}

using Compiler = Object (*)(unsigned module, unsigned configuration);

class Build {
public:
    explicit Build(Compiler compiler) : configuration_(promise_.get_future().share())
    {
        for (unsigned module = 0; module < kModules; module++) {
            objects_.push_back(std::async(std::launch::async, [configuration = configuration_, compiler, module] {
                return compiler(module, configuration.get());
            }));
        }
        configuring_ = std::thread([this] { promise_.set_value(configure()); });
    }

    ~Build() { configuring_.join(); }

    // The digest of all objects that could be compiled; counts the others.
    unsigned link(unsigned& failed)
    {
        unsigned digest = configuration_.get();
        for (std::future<Object>& object : objects_) {
            try {
                Object compiled = object.get();
                digest = digest * 31 + (compiled.code ^ compiled.module);
            } catch (const std::runtime_error&) {
                failed++;
            }
        }
        return digest;
    }

private:
    std::promise<unsigned> promise_;
    std::shared_future<unsigned> configuration_;
    std::vector<std::future<Object>> objects_;
    std::thread configuring_;
};

unsigned expected_digest(bool with_bad_module)
{
    unsigned configuration = configure();
    unsigned digest = configuration;
    for (unsigned module = 0; module < kModules; module++) {
        if (module != kBadModule || with_bad_module)
            digest = digest * 31 + (compile(module, configuration).code ^ module);
    }
    return digest;
}

bool build_is_right(Compiler compiler, bool with_bad_module)
{
    unsigned failed = 0;
    Build build(compiler);
    return build.link(failed) == expected_digest(with_bad_module) && failed == (with_bad_module ? 0 : 1);
}

}  // namespace

int main()
{
    return verdict(build_is_right(compile, true) && build_is_right(compile_strictly, false));
}
