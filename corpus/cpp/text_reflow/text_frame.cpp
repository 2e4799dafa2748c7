#include "text_frame.h"

#include <stdexcept>

#include "../../work.h"

namespace {

constexpr unsigned kFontRounds = 900;

// Stands for loading the font of the text.
unsigned load_font(std::size_t offset)
{
    return compute(static_cast<unsigned>(offset), kFontRounds);
}

}  // namespace

void TextFrame::reflow(std::size_t offset, std::size_t length)
{
    std::lock_guard<std::mutex> guard(mutex_);
    offset_ = offset;                                   // truth:A2
    length_ = length;                                   // truth:B2
}

std::string TextFrame::measured(std::size_t offset, std::size_t length) const
{
    if (offset + length > document_.size())
        throw std::out_of_range("a frame shows more than its document");
    return document_.substr(offset, length);
}

#ifdef FIXED

std::string TextFrame::text()
{
    std::unique_lock<std::mutex> guard(mutex_);
    std::size_t offset = offset_;
    std::size_t length = length_;
    guard.unlock();
    return load_font(offset) ? measured(offset, length) : std::string();
}

#else

std::size_t TextFrame::content_offset()
{
    std::lock_guard<std::mutex> guard(mutex_);
    return offset_;                                     // truth:A1
}

std::size_t TextFrame::content_length()
{
    std::lock_guard<std::mutex> guard(mutex_);
    return length_;                                     // truth:B1
}

std::string TextFrame::text()
{
    std::size_t offset = content_offset();
    unsigned font = load_font(offset);
    std::size_t length = content_length();
    return font ? measured(offset, length) : std::string();
}

#endif
