// Who an endpoint is among the roles of the trial, and which queues it has.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <middlemark/settings.hpp>

#include "queue.hpp"

namespace middlemark::null {

/// Whether a script that names `only` one index, or none, means this one.
[[nodiscard]] inline bool meant(const std::optional<unsigned>& only, unsigned index) noexcept {
  return !only || *only == index;
}

/// One topic as this adapter carries it.
struct Route {
  Topic topic;
  std::string role;  ///< that publishes on it, as a script says it
  std::vector<unsigned>
      publishers;  ///< of a stream: the roles of its endpoints, by their indices among all of the trial
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

/// Touched memory of no use.
class Hog {
 public:
  explicit Hog(std::size_t bytes) : memory_(bytes, std::byte{1}) {}

 private:
  std::vector<std::byte> memory_;
};

[[noreturn]] inline void pause_for_ever() {
  for (;;) pause();
}

}  // namespace middlemark::null
