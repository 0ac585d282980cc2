// How deep roscpp's queues are made. They hold whole messages and roscpp bounds them by number only, so a deep queue of large
// messages, or one without a bound, would fill the memory of the machine.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <middlemark/settings.hpp>

#include "options.hpp"

namespace middlemark::ros1 {

/// What roscpp keeps beside each message in a queue (its buffer's and message's heads, queue and callback entries), about.
inline constexpr std::size_t overhead_bytes = 512;

class Limits {
 public:
  explicit Limits(const Settings& settings) : each_(settings.message_bytes + overhead_bytes), depth_(settings.depth) {
    const std::size_t publishers = settings.publishers;
    const std::size_t subscribers = settings.subscribers;
    const std::size_t queues = publishers + publishers * subscribers;  // a subscriber keeps depth messages of each
    const auto pages = static_cast<std::size_t>(std::max(sysconf(_SC_PHYS_PAGES), 1L));
    const std::size_t quarter = pages * static_cast<std::size_t>(std::max(sysconf(_SC_PAGESIZE), 1L)) / 4;
    affordable_ = std::max(quarter / queues / each_, least_messages);
    kept_ = std::max(keep_all_bytes / each_, least_messages);
    kept_ = std::min(kept_, affordable_);
  }

  /// 0 is roscpp's word for no bound; what bounds it is bytes_in_flight().
  [[nodiscard]] std::uint32_t publisher_queue() const { return depth_ ? static_cast<std::uint32_t>(depth()) : 0; }

  /// One queue for all publishers of the topic.
  [[nodiscard]] std::uint32_t subscriber_queue(unsigned publishers) const {
    return static_cast<std::uint32_t>((depth_ ? depth() : std::min(kept_ * 4, affordable_)) * publishers);
  }

  /// What a publisher's process may have handed over without roscpp having sent it, before publish() waits. With a depth it
  /// is only met when roscpp's own thread does not get to run: what is published waits for it outside of the queue.
  [[nodiscard]] std::size_t bytes_in_flight() const {
    return depth_ ? depth() * each_ + keep_all_bytes : kept_ * each_;
  }

  /// Messages a publisher may have out within a process before it waits for one to come back.
  [[nodiscard]] std::size_t shared_messages(unsigned publishers, unsigned subscribers) const {
    const std::size_t in_callbacks_and_hands = subscribers + std::size_t{2};
    return (depth_ ? depth() * publishers * subscribers : kept_) + in_callbacks_and_hands;
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    if (!depth_) {
      return {"keep-all: publish() waits when " + std::to_string(bytes_in_flight() >> 20) +
              " MiB are not sent yet, and a subscriber drops the oldest of more than " +
              std::to_string(subscriber_queue(1)) + " messages: roscpp's endless queues would fill the memory"};
    }
    if (*depth_ <= affordable_) return {};
    return {"depth " + std::to_string(*depth_) + " was cut to " + std::to_string(affordable_) +
            ": all queues together may take a quarter of the memory"};
  }

 private:
  static constexpr std::size_t keep_all_bytes = std::size_t{256} << 20;
  static constexpr std::size_t least_messages = 4;

  [[nodiscard]] std::size_t depth() const { return std::min<std::size_t>(*depth_, affordable_); }

  std::size_t each_;
  std::optional<std::uint32_t> depth_;
  std::size_t affordable_ = 0;  // messages in a queue
  std::size_t kept_ = 0;        // messages a keep-all publisher may have waiting
};

/// UDPROS cuts a message into datagrams and loses all of it with any of them.
inline void note_datagrams(std::size_t message_bytes, const Options& options, std::vector<std::string>& notes) {
  constexpr std::size_t head_bytes = 8;
  const std::size_t datagram = static_cast<std::size_t>(options.datagram_bytes != 0 ? options.datagram_bytes : 1500);
  std::ifstream file("/proc/sys/net/core/rmem_default");
  std::size_t room = 0;
  // The kernel counts a datagram of 1500 bytes as 2304.
  if (!(file >> room) || message_bytes * 3 / 2 < room) return;
  notes.push_back("udpros: a message goes as " +
                  std::to_string((message_bytes + datagram - head_bytes - 1) / (datagram - head_bytes)) +
                  " datagrams at once, more than a socket's buffer of " + std::to_string(room) +
                  " bytes holds (net.core.rmem_default); it is lost with the first that is dropped");
}

}  // namespace middlemark::ros1
