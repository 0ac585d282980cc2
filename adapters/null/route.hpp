// Describes a topic for the script: the role that publishes on it, the indices of its publishers and subscribers, and
// the names of their queues.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <middlemark/settings.hpp>

#include "queue.hpp"

namespace middlemark::null {

/// Returns whether a script applies to the publisher or subscriber `index`: true if `only`, the script's index, is
/// equal or absent.
[[nodiscard]] inline bool meant(const std::optional<unsigned>& only, unsigned index) noexcept {
  return !only || *only == index;
}

/// A topic with its publishers and subscribers, as the script needs them.
struct Route {
  Topic topic;
  std::string role;                  ///< the role that publishes, in the words of the setting `at`
  std::vector<unsigned> publishers;  ///< for a stream: the index of each publisher among all publishers of the trial
  std::vector<unsigned> subscribers;
  std::uint64_t slots = 1;

  [[nodiscard]] unsigned publisher(unsigned index) const noexcept {
    return publishers.empty() ? index : publishers[index];
  }
  [[nodiscard]] unsigned subscriber(unsigned index) const noexcept {
    return subscribers.empty() ? index : subscribers[index];
  }

  [[nodiscard]] std::string queue_name(unsigned from, unsigned to) const {
    return "middlemark-null." + topic.name + "." + std::to_string(from) + "." + std::to_string(to);
  }
};

/// Memory that is written once and then unused, so that the process grows by a known amount.
class Hog {
 public:
  explicit Hog(std::size_t bytes) : memory_(bytes, std::byte{1}) {}

 private:
  std::vector<std::byte> memory_;
};

/// Memory that grows by small steps and is freed only at the end. It is mapped in chunks, so that the process grows page
/// by page as the bytes are touched.
class Leak {
 public:
  void grow(std::size_t bytes) {
    for (; bytes > 0; --bytes) {
      if (used_ == chunk_bytes) {
        chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk_bytes));
        used_ = 0;
      }
      chunks_.back()[used_++] = std::byte{1};
    }
  }

 private:
  static constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::size_t used_ = chunk_bytes;
};

[[noreturn]] inline void pause_for_ever() {
  for (;;) pause();
}

}  // namespace middlemark::null
