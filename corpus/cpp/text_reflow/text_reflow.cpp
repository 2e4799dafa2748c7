// A browser window is made wider: the layout thread reflows the frames of the page from the first to the last, while
// the painter draws them from the last to the first. Every frame showed the end of its document and will show all of
// it. A painter that takes the old offset and the new length draws past the end.
#include <chrono>
#include <cstdio>
#include <deque>
#include <string>
#include <thread>

#include "../../background.h"
#include "../../work.h"
#include "text_frame.h"

namespace {

constexpr unsigned kFrames = 64;
constexpr unsigned kLayoutRounds = 2500;
constexpr unsigned kPaintRounds = 1800;
constexpr unsigned kFramesPerEvent = 8;
constexpr std::chrono::microseconds kEventTime{20};
constexpr std::size_t kNarrowLength = 10;

class Page {
public:
    Page() : document_("It was a bright cold day in April, and the clocks were all wrong.")
    {
        for (unsigned i = 0; i < kFrames; i++)
            frames_.emplace_back(document_, document_.size() - kNarrowLength, kNarrowLength);
    }

    void lay_out();
    void paint();

private:
    static unsigned handle_events(unsigned frame, unsigned rounds);

    const std::string document_;
    std::deque<TextFrame> frames_;
};

unsigned Page::handle_events(unsigned frame, unsigned rounds)
{
    if (frame % kFramesPerEvent == 0)
        std::this_thread::sleep_for(kEventTime);
    background_step(frame);
    return compute(frame, rounds);
}

void Page::lay_out()
{
    unsigned digest = 0;
    for (unsigned i = 0; i < kFrames; i++) {
        digest ^= handle_events(i, kLayoutRounds);
        frames_[i].reflow(0, document_.size());
    }
    std::printf("layout %08x\n", digest);
}

void Page::paint()
{
    unsigned digest = 0;
    for (unsigned i = kFrames; i-- > 0;) {
        digest ^= handle_events(i, kPaintRounds);
        digest += static_cast<unsigned>(frames_[i].text().size());
    }
    std::printf("painted %08x\n", digest);
}

}  // namespace

int main()
{
    Page page;

    std::thread layout([&page] { page.lay_out(); });
    std::thread painter([&page] { page.paint(); });
    layout.join();
    painter.join();
    return 0;
}
