// How much the trial's shared memory can hold, and what that leaves of the depth that was asked for.
#pragma once

#include <sys/statvfs.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include <middlemark/settings.hpp>

namespace middlemark::iceoryx2 {

inline constexpr const char* shared_memory_folder = "/dev/shm";

/// A receiver's buffer. The same in every worker of a trial, or the second to open a service would be refused: it follows from the
/// settings and the size of the file system, not from what is free in it.
class Room {
 public:
  explicit Room(const Settings& settings) {
    struct statvfs about{};
    if (statvfs(shared_memory_folder, &about) != 0) {
      throw AdapterError(std::string("iceoryx2: ") + shared_memory_folder + " cannot be read",
                         "iceoryx2 keeps its messages there; mount a tmpfs on it");
    }
    whole_ = std::size_t{about.f_blocks} * about.f_frsize;
    free_ = std::size_t{about.f_bavail} * about.f_frsize;
    chunk_bytes_ = settings.message_bytes + header_bytes;
    if (settings.pattern == Pattern::request_reply) {
      chunks_ = settings.publishers * chunks_of_a_call;
    } else {
      spread(settings);
    }
    if (chunks_ * chunk_bytes_ > free_) refuse(settings);
  }

  [[nodiscard]] std::size_t messages() const noexcept { return messages_; }
  /// It holds fewer than the depth asks for.
  [[nodiscard]] bool bounded() const noexcept { return bounded_; }

 private:
  // What a message carries in front of it, and its alignment; more than it is.
  static constexpr std::size_t header_bytes = 128;
  // A client's three requests and its server's six replies, at one request at a time.
  static constexpr std::size_t chunks_of_a_call = 9;
  // Keep-all is as many messages as any reader could want to be behind, not the machine's memory.
  static constexpr std::size_t keep_all_messages = 8192;
  static constexpr std::size_t keep_all_bytes = std::size_t{256} << 20;
  static constexpr std::size_t keep_all_least = 4;

  /// A publisher's segment has a chunk for each message in the buffer of each of its subscribers, for one that each looks
  /// at, and for one that it writes.
  void spread(const Settings& settings) {
    const bool streams = settings.pattern == Pattern::stream;
    const std::size_t topics = streams ? settings.topics : 1;
    const std::size_t writers = streams ? settings.publishers : 1 + settings.subscribers;
    const std::size_t pairs =
        streams ? settings.publishers * ((settings.subscribers + topics - 1) / topics) : 2 * settings.subscribers;
    const auto fitting = [&](std::size_t bytes) {
      const std::size_t chunks = bytes / chunk_bytes_;
      return chunks <= writers + pairs ? std::size_t{0} : (chunks - writers) / pairs - 1;
    };
    const std::size_t most = std::max<std::size_t>(1, fitting(whole_ / 2));
    if (settings.depth) {
      messages_ = std::min<std::size_t>(*settings.depth, most);
      bounded_ = messages_ < *settings.depth;
    } else {
      messages_ = std::min({keep_all_messages, std::max(keep_all_least, fitting(keep_all_bytes)), most});
    }
    chunks_ = pairs * (messages_ + 1) + writers;
  }

  [[noreturn]] void refuse(const Settings& settings) const {
    constexpr std::size_t mib = std::size_t{1} << 20;
    const std::size_t needed = chunks_ * chunk_bytes_ / mib + 1;
    throw AdapterError("iceoryx2: shm: messages of " + std::to_string(settings.message_bytes) + " bytes need up to " +
                           std::to_string(needed) + " MiB in " + shared_memory_folder + ", where " +
                           std::to_string(free_ / mib) + " MiB are free",
                       "sudo mount -o remount,size=" + std::to_string(needed + whole_ / mib) + "M " +
                           shared_memory_folder + " (of a container: --shm-size), or smaller messages");
  }

  std::size_t whole_ = 0;
  std::size_t free_ = 0;
  std::size_t chunk_bytes_ = 0;
  std::size_t chunks_ = 0;
  std::size_t messages_ = 1;
  bool bounded_ = false;
};

}  // namespace middlemark::iceoryx2
