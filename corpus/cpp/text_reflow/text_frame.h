// A run of text on a page: which part of the document it shows. Layout may move it while it is painted.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

class TextFrame {
public:
    TextFrame(const std::string& document, std::size_t offset, std::size_t length)
        : document_(document), offset_(offset), length_(length)
    {
    }

    // Shows another part of the document from now on.
    void reflow(std::size_t offset, std::size_t length);

    // The text that the frame shows.
    std::string text();

private:
    std::size_t content_offset();
    std::size_t content_length();
    std::string measured(std::size_t offset, std::size_t length) const;

    const std::string& document_;
    std::mutex mutex_;
    std::size_t offset_;
    std::size_t length_;
};
