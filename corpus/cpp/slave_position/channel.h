// A replication channel: which relay log a replica reads, and how far it has come in it.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

// A place in the relay logs from which replication can go on after a restart.
struct Checkpoint {
    std::uint32_t file;
    std::string file_name;
    unsigned file_size;
    std::uint64_t position;
};

class Channel {
public:
    // Every relay log begins with a header of this size; the first event follows it.
    static constexpr std::uint64_t kHeaderSize = 4;

    explicit Channel(std::uint64_t position) : position_(position) {}

    // An event of `size` bytes was read from the relay log.
    void advance(std::uint64_t size);

    // The relay log is full: go on at the beginning of the next.
    void rotate();

    Checkpoint checkpoint();

private:
    std::uint32_t file();
    std::uint64_t position();

    std::mutex mutex_;
    std::uint32_t file_ = 1;
    std::uint64_t position_;
};
