// A gateway asks for the limits of its tenants, for web requests from the first tenant to the last, for mail from the last to the
// first. Limits are made by whoever asks first, under a lock, and found without one from then on: also in the
// moment after they were published and before they were read from the settings.
#include <cstdio>
#include <deque>
#include <thread>

#include "../../background.h"
#include "../../work.h"
#include "limits.h"

namespace {

constexpr unsigned kTenants = 16;
constexpr unsigned kWebRounds = 7000;
constexpr unsigned kMailRounds = 6000;

class Gateway {
public:
    Gateway()
    {
        for (unsigned number = 0; number < kTenants; number++)
            tenants_.emplace_back(number);
    }

    void serve_web();
    void serve_mail();

    // Requests that were turned away though every tenant may make some.
    unsigned turned_away() const { return turned_away_[0] + turned_away_[1]; }

private:
    unsigned admit(unsigned number, unsigned rounds);

    std::deque<Tenant> tenants_;
    unsigned turned_away_[2] = {0, 0};
};

unsigned Gateway::admit(unsigned number, unsigned rounds)
{
    background_step(number);
    unsigned request = compute(number, rounds);
    return tenants_[number].limits().rate() + request == request ? 1 : 0;
}

void Gateway::serve_web()
{
    for (unsigned number = 0; number < kTenants; number++)
        turned_away_[0] += admit(number, kWebRounds);
}

void Gateway::serve_mail()
{
    for (unsigned number = kTenants; number-- > 0;)
        turned_away_[1] += admit(number, kMailRounds);
}

}  // namespace

int main()
{
    Gateway gateway;

    std::thread web([&gateway] { gateway.serve_web(); });
    std::thread mail([&gateway] { gateway.serve_mail(); });
    web.join();
    mail.join();
    std::printf("%u requests were turned away\n", gateway.turned_away());
    return gateway.turned_away() > 0 ? 1 : 0;
}
