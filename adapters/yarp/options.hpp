// Native settings, and the carriers and queue lengths of YARP that follow from a trial's settings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <middlemark/kit/machine.hpp>
#include <middlemark/kit/native.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::yarp {

inline constexpr const char* tcp = "tcp";
inline constexpr const char* fast_tcp = "fast_tcp";
inline constexpr const char* udp = "udp";
inline constexpr const char* shmem = "shmem";
inline constexpr const char* unix_stream = "unix_stream";
inline constexpr const char* local = "local";

struct Native : kit::NativeKeys {
  using NativeKeys::NativeKeys;
  bool unbuffered =
      key("unbuffered", false,
          {.help = "true: a publisher writes on its own thread, as a Port does; false: for each connection "
                   "a YARP thread writes, as with a BufferedPort",
           .transports = {tcp, fast_tcp},
           .patterns = {Pattern::ping_pong, Pattern::stream}});
};

struct Options : Native {
  std::string carrier;
  std::vector<std::string> notes;

  explicit Options(const Settings& settings)
      : Native(kit::read_native<Native>("yarp", settings)),
        carrier(settings.is_default_configuration() ? tcp : settings.transport) {
    if (settings.calls_service() && carrier != tcp && carrier != fast_tcp) {
      throw AdapterError("yarp: " + carrier + " has no calls, because YARP could not end a call after a timeout",
                         "choose the transport tcp or fast_tcp for request and reply");
    }
    std::size_t bytes = 1;  // the memory that one message in the queue of every subscriber takes
    for (const Topic& topic : settings.endpoints) {
      bytes += topic.service ? 0 : topic.message_bytes * topic.subscribers;
      if (unbuffered && topic.reliability == Reliability::best_effort) {
        throw AdapterError("yarp: native.unbuffered = true: such a publisher waits for its reader and drops nothing",
                           "leave native.unbuffered out, or use reliability reliable");
      }
    }
    affordable_ = std::max<std::uint64_t>(kit::physical_memory() / 4 / bytes, least_messages);
    for (const Topic& topic : settings.endpoints) note_queue(topic);
  }

  /// Returns true for carriers whose connections stay open until the process ends. Closing a connection of `local` frees
  /// memory that the other side still uses; closing one of `shmem` frees memory that the connection's own thread still uses.
  [[nodiscard]] bool stays_open() const { return carrier == local || carrier == shmem; }

  /// Returns how many messages may wait for a subscriber; nullopt: only the newest message waits.
  [[nodiscard]] std::optional<std::uint32_t> queue(const Topic& topic) const {
    if (topic.capacity() == 1 && topic.reliability == Reliability::best_effort) return std::nullopt;
    const std::uint64_t wanted = topic.capacity().value_or(
        std::clamp<std::uint64_t>(keep_all_bytes / topic.message_bytes, least_messages, most_messages));
    return static_cast<std::uint32_t>(std::min({wanted, affordable_, std::uint64_t{1} << 30}));
  }

 private:
  static constexpr std::uint64_t keep_all_bytes = std::uint64_t{128} << 20;
  static constexpr std::uint64_t least_messages = 4;
  static constexpr std::uint64_t most_messages = 65'536;

  void note_queue(const Topic& topic) {
    if (topic.service) return;
    const std::uint64_t kept = queue(topic).value_or(1);
    std::string note;
    if (!topic.depth) {
      note = "keep-all: a subscriber's queue holds " + std::to_string(kept) + " messages, then the publisher waits";
    } else if (topic.capacity() > kept) {
      note = "the depth of " + std::to_string(*topic.depth) + " was reduced to " + std::to_string(kept) +
             " messages in a subscriber's queue: all queues together may take a quarter of the memory";
    }
    if (!note.empty() && std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
  }

  std::uint64_t affordable_ = 0;
};

}  // namespace middlemark::yarp
